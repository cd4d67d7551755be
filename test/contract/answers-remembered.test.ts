// What each operation answered is remembered by itself: what is switched on later is asked alone, and what is over is asked alone.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { openReader } from '../../src/app/open-app.js'
import { openIndicatorLookup } from '../../src/app/open-indicator-lookup.js'
import { load } from '../../src/config/load.js'
import { newestAt, type Finding } from '../../src/domain/finding.js'
import type { Indicator } from '../../src/domain/indicator.js'
import { newFolder } from '../support/lookup-service.js'
import { outbound } from '../support/lookup.js'
import { startScriptedService, testKey, type Script, type ScriptedService } from '../support/scripted-service.js'

const hour = 3_600_000
const bad = '198.51.100.60'
const good = '198.51.100.70'
const name = 'example.com'

let service: ScriptedService
let now = 0
beforeAll(async () => {
  service = await startScriptedService(() => undefined)
})
afterAll(() => service.close())
beforeEach(() => {
  now = Date.UTC(2026, 0, 1)
  service.asked.length = 0
  service.script = usual
})
const usual: Script = ({ path, query }) => {
  if (path.endsWith('/reports')) {
    const row = { url: 'https://example.com/', score: 'Low', reg_dtime: '2025-12-31 00:00:00', scan_id: 7 }
    return { status: 200, data: { count: 1, reports: [row] } }
  }
  if (path.includes('/report/'))
    return { status: 200, data: { main_domain_info: { main_domain: name, domain_score: { score: 'low' } } } }
  const said = path.endsWith('malicious-info') ? { is_malicious: query.ip === bad } : { is_hosting: true, is_vpn: true }
  return { status: 200, ip: query.ip, ...said }
}

/** A program that starts with these operations on this folder, and its lookups. */
const start = async (path: string, ip: object = {}, domain: object = {}) => {
  const loaded = load({
    values: {
      memory: { path },
      gate: { documentation: true },
      intel: {
        service: { apiKey: testKey, baseUrl: service.baseUrl, concurrency: 1 },
        ip: { operations: ip },
        domain: { operations: domain },
      },
    },
    env: {},
    readFile: () => '',
  })
  if (!('config' in loaded)) return expect.fail(JSON.stringify(loaded.problems))
  const reader = openReader(loaded.config)
  if ('problems' in reader) return expect.fail(JSON.stringify(reader.problems))
  const clock = { now: () => now, after: (ms: number, run: () => void) => timer(ms, run) }
  const opened = await openIndicatorLookup(loaded.config, reader.decide, { env: {}, clock })
  if ('problems' in opened) return expect.fail(JSON.stringify(opened.problems))
  const look = (value: string): Promise<Finding> => {
    const indicator: Indicator = { type: /^\d/.test(value) ? 'ip' : 'domain', value }
    return Promise.resolve(opened.lookup(indicator, { ...outbound, decision: { decision: 'lookup', ask: indicator } }))
  }
  return { look, close: opened.close }
}
const timer = (ms: number, run: () => void): (() => void) => {
  const handle = setTimeout(run, Math.min(ms, 50))
  return () => clearTimeout(handle)
}
const newCalls = (): readonly string[] => {
  const paths = service.asked.map(({ path }) => path.replace('/v1/', ''))
  service.asked.length = 0
  return paths
}

it('asks of a clean address only the operation that was switched on, before it is called clean', async () => {
  const path = newFolder()
  const before = await start(path)
  await before.look(good)
  await before.close()
  expect(newCalls()).toEqual(['ip/malicious-info'])
  now += hour
  const after = await start(path, { hosting: 'always' })
  expect(await after.look(good)).toMatchObject({
    operations: ['ip/malicious-info', 'ip/hosting'],
    at: now - hour,
    facts: { flags: { is_malicious: false, is_hosting: true } },
  })
  expect(newCalls()).toEqual(['ip/hosting'])
  await after.look(good)
  expect(newCalls()).toEqual([])
  await after.close()
})

it('tells bad news at once while the operation that was switched on is asked', async () => {
  const path = newFolder()
  const before = await start(path)
  await before.look(bad)
  await before.close()
  expect(newCalls()).toEqual(['ip/malicious-info', 'ip/suspicious_info'])
  const after = await start(path, { vpn: 'accused' })
  expect(await after.look(bad)).toMatchObject({ operations: ['ip/malicious-info', 'ip/suspicious_info'] })
  await expect.poll(async () => (await after.look(bad)).operations).toContain('ip/vpn')
  expect(newCalls()).toEqual(['ip/vpn'])
  await after.close()
})

it('asks again only the answer whose time is over', async () => {
  const path = newFolder()
  const before = await start(path)
  await before.look(good)
  await before.close()
  now += 10 * hour
  const after = await start(path, { hosting: 'always' })
  await after.look(good)
  newCalls()
  now += 2 * hour
  expect(await after.look(good)).toMatchObject({ at: now - 2 * hour })
  expect(newCalls()).toEqual(['ip/malicious-info'])
  now += 10 * hour
  expect(newestAt(await after.look(good))).toBe(now)
  expect(newCalls()).toEqual(['ip/hosting'])
  await after.close()
})

it('reads the report of a name alone when reports are switched on', async () => {
  const path = newFolder()
  const before = await start(path)
  await before.look(name)
  await before.close()
  expect(newCalls()).toEqual(['domain/reports'])
  const after = await start(path, {}, { report: 'always' })
  expect(await after.look(name)).toMatchObject({ operations: ['domain/reports', 'domain/report'] })
  expect(newCalls()).toEqual(['domain/report/7'])
  await after.close()
})
