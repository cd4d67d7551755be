// A domain scan: started once whatever happens, waited for, and read when it is done.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Finding } from '../../../src/domain/finding.js'
import type { Client } from '../../../src/provider/client.js'
import { createStartedScans } from '../../../src/provider/started-scans.js'
import { createStepScan } from '../../../src/provider/scan.js'
import {
  clientFor,
  startScriptedService,
  straight,
  type Script,
  type ScriptedService,
} from '../../support/scripted-service.js'
import { fixture } from '../../support/service-fixtures.js'

const pollMs = 15_000
let service: ScriptedService
let client: Client
let folder = ''
let now = 0
beforeAll(async () => {
  service = await startScriptedService(() => ({ status: 200 }))
  client = clientFor(service.baseUrl, { headersTimeoutMs: 1000, connectTimeoutMs: 1000 })
})
afterAll(async () => {
  await client.close()
  await service.close()
})
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'scans-'))
  now = Date.UTC(2024, 4, 1, 7)
  service.asked.length = 0
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** A new one each time, as after a restart: all it knows is on disk. */
const step = (name = 'example.com', visibility: 'public' | 'private' = 'public'): Promise<Finding> =>
  createStepScan(
    { client, now: () => now, emit: () => undefined },
    { visibility, pollMs, againAfterMs: 30 * 86_400_000 },
    createStartedScans(folder),
  )(name, straight)
const calls = () => service.asked.map(({ method, path }) => `${method} ${path.replace('/v1/domain/', '')}`)
const posts = () => calls().filter((call) => call.startsWith('POST')).length
const pending = (retryAfterMs = pollMs) => ({ status: 'unknown', reason: 'pending', retryAfterMs })
const scripted =
  (percentages: unknown[], post: Script = () => fixture('domain-scan')): Script =>
  (asked, response) => {
    if (asked.method === 'POST') return post(asked, response)
    if (asked.path.includes('/status/')) return { status: 200, data: { scan_percentage: percentages.shift() } }
    if (asked.path.includes('/report/')) return fixture('domain-report')
    return { status: 200, data: { reports: [] } }
  }

describe('a scan', () => {
  it('is started, asked about when due, and read when done', async () => {
    service.script = scripted([0, '45', 100])
    expect(await step()).toEqual(pending())
    expect(await step()).toEqual(pending())
    expect(calls()).toEqual(['POST scan'])
    expect(service.asked[0]).toMatchObject({
      form: { query: 'example.com' },
      contentType: 'application/x-www-form-urlencoded',
    })
    for (let i = 0; i < 2; i++) {
      now += pollMs
      expect(await step()).toEqual(pending())
    }
    now += pollMs
    expect(await step()).toMatchObject({
      status: 'known',
      facts: { domain: 'example.com', hosts: [{ host: 'example.com', rating: 'dangerous', scanId: '1000001' }] },
    })
    expect(calls()).toEqual([
      'POST scan',
      'GET status/1000001',
      'GET status/1000001',
      'GET status/1000001',
      'GET report/1000001',
    ])
    expect(await step()).toMatchObject({ reason: 'not_found' })
    expect(posts()).toBe(1)
  })
  it('may be private', async () => {
    service.script = scripted([])
    await step('example.com', 'private')
    expect(calls()).toEqual(['POST scan/private'])
  })
  it.each([
    [-1, 'failed'],
    [-2, 'no_such_domain'],
    [-7, 'failed'],
  ])('that ends with %i is over', async (percent, state) => {
    service.script = scripted([percent])
    await step()
    now += pollMs
    expect(await step()).toMatchObject({ status: 'unknown', reason: 'not_found' })
    now += pollMs
    expect(await step()).toMatchObject({ reason: 'not_found' })
    expect(calls()).toEqual(['POST scan', 'GET status/1000001'])
    expect(JSON.parse(readFileSync(join(folder, readdirSync(folder)[0]!), 'utf8'))).toMatchObject({ state })
  })
  it.each<[string, object]>([
    ['a text', { status: 400, message: 'Still scanning, please wait' }],
    ['an empty answer', { status: 200, data: {} }],
  ])('waits while the account is busy, told by %s', async (_, busy) => {
    let isBusy = true
    service.script = scripted([100], () => (isBusy ? busy : fixture('domain-scan')))
    expect(await step()).toEqual(pending(15_000))
    isBusy = false
    expect(await step()).toEqual(pending())
    expect(posts()).toBe(2)
  })
  it('is not started where the service refuses it', async () => {
    service.script = scripted([], () => ({ status: 403, message: 'limit exceeded' }))
    expect(await step()).toMatchObject({ reason: 'no_credit' })
    expect(readdirSync(folder)).toEqual([])
  })
  it('is not started where admission does not let it out', async () => {
    const refused = createStepScan(
      { client, now: () => now, emit: () => undefined },
      { visibility: 'public', pollMs, againAfterMs: 1 },
      createStartedScans(folder),
    )
    expect(await refused('example.com', () => Promise.resolve({ status: 'unknown', reason: 'budget_spent' }))).toEqual({
      status: 'unknown',
      reason: 'budget_spent',
    })
    expect(readdirSync(folder)).toEqual([])
    expect(service.asked).toEqual([])
  })
  it('reads its number as text and at the top', async () => {
    service.script = scripted([], () => ({ status: 200, scan_id: '77' }))
    await step()
    now += pollMs
    await step()
    expect(calls()[1]).toBe('GET status/77')
  })
  it('is begun anew when its time is over', async () => {
    service.script = scripted([-1])
    await step()
    now += pollMs
    await step()
    now += 30 * 86_400_000
    expect(await step()).toEqual(pending())
    expect(posts()).toBe(2)
  })
})

describe('a scan after a crash', () => {
  it('is never posted again by two at once', async () => {
    service.script = scripted([])
    await Promise.all([step(), step(), step()])
    expect(posts()).toBe(1)
  })
  it.each<[string, Script]>([
    ['the answer never came', (_, response) => void response.socket?.resetAndDestroy()],
    ['the answer came too late', () => undefined],
    ['the answer was no answer', (_, response) => void response.end('<html>')],
  ])('is looked for, not posted again, where %s', async (_, post) => {
    service.script = (asked, response) => {
      if (asked.method === 'POST') return post(asked, response)
      if (asked.path.endsWith('personal'))
        return {
          status: 200,
          data: {
            reports: [
              { scan_id: 1, url: 'https://example.com/', reg_dtime: '2024-01-01 00:00:00' },
              { scan_id: 2, url: 'https://other.example.com/', reg_dtime: '2024-05-01 07:00:01' },
              { scan_id: 3, url: 'https://example.com/', reg_dtime: '2024-05-01 07:00:01' },
            ],
          },
        }
      return { status: 200, data: { scan_percentage: 50 } }
    }
    expect(await step()).toEqual(pending())
    now += pollMs
    expect(await step()).toEqual(pending())
    expect(calls()).toEqual(['POST scan', 'GET reports/personal', 'GET status/3'])
  })
  it('is given up where the account knows of none', async () => {
    service.script = scripted([], (_, response) => void response.socket?.resetAndDestroy())
    await step()
    now += pollMs
    expect(await step()).toMatchObject({ reason: 'unavailable' })
    now += pollMs
    expect(await step()).toMatchObject({ reason: 'unavailable' })
    expect(posts()).toBe(1)
  })
  it('counts a torn file as a scan that was begun', async () => {
    service.script = scripted([])
    await step()
    writeFileSync(join(folder, readdirSync(folder)[0]!), '{"na')
    now += pollMs
    await step()
    expect(posts()).toBe(1)
  })
})
