// The context of alerts: asked once for each accused indicator, by operations of its own budget; the alert does not wait, and an update brings it.
import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { Alert } from '../../src/alerts/alert.js'
import { openApp } from '../../src/app/open-app.js'
import { openRunAlerts } from '../../src/app/open-alerting.js'
import { load } from '../../src/config/load.js'
import { systemClock } from '../../src/base/clock.js'
import { shortened, vulnerabilitiesIn } from '../../src/domain/alert-context.js'
import { allOf } from '../../src/pipeline/pipeline.js'
import { ignoreTelemetry } from '../../src/telemetry/event.js'
import { feedFile } from '../support/feed-files.js'
import { runCommand } from '../support/run-command.js'
import { replayExamples, startScriptedService, testKey, type ScriptedService } from '../support/scripted-service.js'

const schema = new URL('../../schemas/alert.schema.json', import.meta.url)
const alertIsValid = new Ajv({ strict: false, formats: { 'date-time': true } }).compile(
  JSON.parse(readFileSync(schema, 'utf8')) as object,
)

const bad = '198.51.100.7'
let service: ScriptedService
beforeAll(async () => {
  service = await startScriptedService(replayExamples)
})
afterAll(() => service.close())
beforeEach(() => {
  service.asked.length = 0
  service.script = replayExamples
})
const calls = (): readonly string[] =>
  service.asked.map(({ path, query }) => `${path.replace('/v1/', '')} ${query.ip ?? query.query ?? ''}`.trim())

const start = async (context: object) => {
  const loaded = load({
    values: {
      memory: { path: 'none' },
      gate: { documentation: true },
      feeds: [{ name: 'mine', path: feedFile(`${bad}\n198.51.100.8\nbad.example.com\n`), categories: ['malware'] }],
      kafka: { alertsTopic: 'alerts' },
      alerts: { suppressSeconds: 0, context },
      intel: { service: { apiKey: testKey, baseUrl: service.baseUrl, concurrency: 1 } },
    },
    env: {},
    readFile: () => '',
  })
  if (!('config' in loaded)) return expect.fail(JSON.stringify(loaded.problems))
  const alerted = (): void => undefined
  const alerts = await openRunAlerts(loaded.config, { env: {}, clock: systemClock, emit: ignoreTelemetry, alerted })
  const app = await openApp(loaded.config, { mode: 'live', env: {}, names: alerts?.names })
  if (!alerts || 'problems' in app) return expect.fail('not open')
  onTestFinished(() => Promise.all([app.close(), alerts.close()]).then(() => undefined))
  const told = (records: readonly { readonly value: Buffer }[]): Alert['threatweave'][] =>
    records.map(({ value }) => {
      const alert: unknown = JSON.parse(String(value))
      expect(alertIsValid(alert) || alertIsValid.errors).toBe(true)
      return (alert as Alert).threatweave
    })
  const partition = alerts.open()
  let nth = 0
  /** One event, and its alerts. */
  const raise = async (line: string, isCommitted = true) => {
    const origin = `firewall/0/${nth++}`
    const events = await allOf(app.pipeline, [{ bytes: Buffer.from(line), origin, time: 0 }])
    const draft = partition.begin()
    const raised = told(draft.raise(events, () => undefined))
    if (isCommitted) draft.commit()
    else draft.giveUp()
    return raised
  }
  const due = () => told(alerts.takeContext())
  const next = async (): Promise<readonly Alert['threatweave'][]> => {
    const found: Alert['threatweave'][] = []
    await expect.poll(() => found.push(...due()), { timeout: 5_000 }).toBeGreaterThan(0)
    return found
  }
  return { raise, due, next }
}
const line = (to: string, more = ''): string => `action=accept src=10.0.0.5 dst=${to} ${more}`

it('comes with an update of the alert, asked once, and with the next alert at once', async () => {
  const { raise, next } = await start({ operations: ['ip/data', 'banner/search', 'banner/stats'] })
  const [alert] = await raise(line(bad))
  expect(alert).not.toHaveProperty('context')
  const [update] = await next()
  expect(update).toMatchObject({ kind: 'context', group_id: alert!.group_id, value: bad, count: 0 })
  expect(Object.keys(update!.context!.answers)).toEqual(['ip/data', 'banner/search', 'banner/stats'])
  expect(calls()).toEqual([`ip/data ${bad}`, `banner/search ip:${bad}`, `banner/stats ip:${bad}`])
  const [again] = await raise(line(bad))
  expect(again!.context).toEqual(update!.context)
  expect(calls()).toHaveLength(3)
})

it('asks for the report of a name, and for the exploits of a vulnerability that the event names', async () => {
  service.script = (asked, response) =>
    asked.path.endsWith('/reports')
      ? {
          status: 200,
          data: { reports: [{ url: 'https://bad.example.com/', scan_id: 9, reg_dtime: '2024-05-01 00:00:00' }] },
        }
      : replayExamples(asked, response)
  const { raise, next } = await start({ operations: ['domain/report', 'exploit/search'] })
  await raise(
    '{"action":"allow","src_ip":"10.0.0.5","url":"https://bad.example.com/","msg":"ET EXPLOIT cve-2099-0001"}',
  )
  const [update] = await next()
  expect(Object.keys(update!.context!.answers)).toEqual(['domain/report', 'exploit/search'])
  expect(JSON.stringify(update!.context)).not.toContain('edb_content')
  expect(calls()).toEqual(['domain/reports bad.example.com', 'domain/report/9', 'exploit/search cve_id:CVE-2099-0001'])
})

it('asks for nothing by default', async () => {
  const { raise, due } = await start({})
  await raise(line(bad))
  expect(due()).toEqual([])
  expect(calls()).toEqual([])
})

it('stops at the budget of a day', async () => {
  const { raise, next } = await start({ operations: ['ip/data', 'banner/search'], perDay: 1 })
  await raise(line(bad))
  expect(Object.keys((await next())[0]!.context!.answers)).toEqual(['ip/data'])
  await raise(line('198.51.100.8'))
  expect(calls()).toEqual([`ip/data ${bad}`])
})

it('says nothing about an alert that was not written', async () => {
  const { raise, due, next } = await start({ operations: ['ip/data'] })
  await raise(line(bad), false)
  await expect.poll(() => calls().length).toBe(1)
  await raise(line('198.51.100.8'))
  expect((await next()).map(({ value }) => value)).toEqual(['198.51.100.8'])
  expect(due()).toEqual([])
})

describe('an answer', () => {
  it('is small, whatever comes', () => {
    const rows = Array.from({ length: 500 }, (_, nth) => ({
      text: 'x'.repeat(5_000),
      nth,
      deep: { deep: { deep: [{ a: 1 }] } },
    }))
    const answer = { status: 200, message: 'ok', count: 500, data: rows, empty: null }
    const short = shortened(answer)
    expect(JSON.stringify(short).length).toBeLessThanOrEqual(3_072)
    expect(short).toMatchObject({ count: 500 })
    const wide = Object.fromEntries(Array.from({ length: 5_000 }, (_, nth) => [`name${nth}`, 'y'.repeat(300)]))
    expect(JSON.stringify(shortened(wide)).length).toBeLessThanOrEqual(3_072)
  })
  it('is asked for about three vulnerabilities at most', () => {
    expect(vulnerabilitiesIn('CVE-2099-0001 cve-2099-0001, CVE-2099-00011 XCVE-1-1')).toEqual([
      'CVE-2099-0001',
      'CVE-2099-00011',
    ])
    expect(vulnerabilitiesIn(Array.from({ length: 9 }, (_, nth) => `CVE-2099-000${nth}`).join(' '))).toHaveLength(3)
  })
})

describe('explain VALUE --online', () => {
  const env = () => ({
    THREATWEAVE_INTEL_SERVICE_BASE_URL: service.baseUrl,
    THREATWEAVE_INTEL_SERVICE_API_KEY: testKey,
  })
  it('prints the same', async () => {
    const { code, stdout } = await runCommand(['explain', bad, '--online', '--json'], { env: env() })
    expect(code).toBe(0)
    expect(Object.keys((JSON.parse(stdout) as { answers: object }).answers)).toEqual([
      'ip/data',
      'banner/search',
      'banner/stats',
    ])
    expect(calls()).toHaveLength(3)
  })
  it('asks for exploits where the value is a vulnerability', async () => {
    const { stdout } = await runCommand(['explain', 'CVE-2099-0001', '--online'], { env: env() })
    expect(stdout).toContain('exploit/search')
    expect(calls()).toEqual(['exploit/search cve_id:CVE-2099-0001'])
  })
  it('needs a value and a key', async () => {
    expect((await runCommand(['explain', '--online'], { env: env() })).code).toBe(64)
    expect((await runCommand(['explain', 'nosuch!', '--online'], { env: env() })).code).toBe(64)
    expect((await runCommand(['explain', bad, '--online'])).code).toBe(78)
  })
})
