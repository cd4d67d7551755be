// Checks metrics, alert rules and dashboard with promtool.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sinkStates } from '../../src/parts/notify/sink-client.js'
import { createMetrics } from '../../src/telemetry/metrics.js'
import { createCounters } from '../../src/telemetry/counters.js'
import { openProvider, runningConsumer, seen } from '../support/ops.js'
import { findTool } from '../support/tools.js'

const folder = resolve(import.meta.dirname, '../../examples/observability')
const promtool = findTool('promtool')

type Dashboard = { panels: { title: string; targets: { expr: string }[] }[] }
const dashboard = JSON.parse(readFileSync(join(folder, 'dashboard.json'), 'utf8')) as Dashboard
const expressions = dashboard.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const))
const alerts = readFileSync(join(folder, 'alerts.yaml'), 'utf8')

const feed = {
  name: 'f',
  addresses: 1,
  endpoints: 1,
  names: 1,
  urls: 1,
  modified: 0,
  skipped: { too_broad: 1 },
  state: 'loaded',
  fetch: { fetches: 1, failures: 0 },
}

const toSinks = {
  states: sinkStates,
  sinks: [
    {
      id: 'soc-chat',
      state: 'failing',
      alerts: { delivered: 3, refused: 1, capped: 2 },
      failures: { failing: 1 },
      oldest: 0,
      positions: new Map([[0, 7]]),
      lags: new Map([[0, 1]]),
    },
  ],
  silences: [{ id: 'test', alerts: 1, isInForce: true }],
}

/** Of a run, and what only a gateway or `notify` has. */
const metricsText = async (): Promise<string> => {
  const counters = createCounters(['ip/malicious-info'])
  counters.chunkRead(1)
  counters.eventAnnotated(seen())
  counters.chunkAnnotated(2)
  counters.waited(1500)
  counters.emit({ event: 'provider_answered', operation: 'ip/malicious-info', ms: 12 })
  counters.emit({ event: 'verdicts_learnt', verdicts: 1, delayMs: 200 })
  counters.emit({ event: 'calling_began', waitedMs: 0 })
  counters.emit({ event: 'memory_restored', path: '/memory', findings: 1, damaged: 0 })
  const shared = { counts: counters.read, allowed: { hour: 10, day: 0 }, version: '1.0.0' }
  const gateway = await createMetrics({ ...shared, kind: 'server' }).text()
  const pipeline = await createMetrics({
    ...shared,
    feeds: () => [feed],
    rules: () => [{ id: 'r', title: 'A Rule', alerts: 1, matches: 2 }],
    deadlineMs: 250,
    provider: () => openProvider,
    consumer: () => ({
      ...runningConsumer(0),
      partitions: { 'we"ird\\to\npic/7': { lag: 1, progressAt: 0 } },
    }),
  }).text()
  const notify = await createMetrics({ ...shared, kind: 'notify', sinks: () => toSinks }).text()
  const own = [
    ...gateway.split(/(?=# HELP )/).filter((metric) => metric.startsWith('# HELP threatweave_request')),
    ...notify.split(/(?=# HELP )/).filter((metric) => /^# HELP threatweave_(?:sink|silence)/.test(metric)),
  ]
  return `${pipeline.trimEnd()}\n${own.map((metric) => metric.trimEnd()).join('\n')}\n`
}

const run = (args: readonly string[], input?: string): { status: number | null; output: string } => {
  if (!('path' in promtool)) throw new Error(promtool.missing)
  const { status, stdout, stderr } = spawnSync(promtool.path, args, { encoding: 'utf8', cwd: folder, input })
  return { status, output: stdout + stderr }
}

if ('missing' in promtool)
  describe('promtool', () => {
    it.skip(`is not here: ${'missing' in promtool ? promtool.missing : ''}`, () => undefined)
  })

describe.runIf('path' in promtool)('promtool', () => {
  it('accepts the metrics', async () => {
    expect(run(['check', 'metrics'], await metricsText())).toEqual({ status: 0, output: '' })
  })

  it('refuses metrics that are wrong, so that the test above means something', () => {
    expect(run(['check', 'metrics'], 'threatweave_x{a="1"} 1 2 3 4\n').status).not.toBe(0)
  })

  it('accepts the alert rules and tests that each fires, and none in normal operation', () => {
    expect(run(['check', 'rules', 'alerts.yaml'])).toMatchObject({ status: 0 })
    expect(run(['test', 'rules', 'alerts.test.yaml'])).toMatchObject({ status: 0 })
    const names = [...alerts.matchAll(/- alert: (\w+)/g)].map((match) => match[1])
    const tested = readFileSync(join(folder, 'alerts.test.yaml'), 'utf8')
    expect(names.filter((name) => !tested.includes(`alertname="${name ?? ''}"`))).toEqual([])
  })

  it('parses the expression of every panel', () => {
    const temporary = mkdtempSync(join(tmpdir(), 'threatweave-panels-'))
    try {
      const file = join(temporary, 'panels.json')
      const rules = expressions.map(([, expr], place) => ({
        record: `panel:${place}`,
        expr: expr.replaceAll('$__rate_interval', '5m'),
      }))
      writeFileSync(file, JSON.stringify({ groups: [{ name: 'panels', rules }] }))
      expect(run(['check', 'rules', file])).toMatchObject({ status: 0 })
    } finally {
      rmSync(temporary, { recursive: true })
    }
  })
})

describe('the alert rules and the dashboard', () => {
  it('use only metrics and labels that exist', async () => {
    const text = await metricsText()
    const lines = text.split('\n')
    const wrong = [...expressions.map(([title, expr]) => [title, expr]), ['alerts', alerts]].flatMap(([where, expr]) =>
      [...(expr ?? '').matchAll(/\b((?:threatweave|nodejs|process)_\w+)(?:\{([^}]*)\})?/g)].flatMap(
        ([, name = '', selector = '']) => {
          const series = lines.filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
          const values = [...selector.matchAll(/(\w+)=~?"([^"$]+)"/g)].flatMap(([, label = '', value = '']) =>
            value.split('|').map((one) => `${label}="${one}"`),
          )
          const absent = values.filter((one) => !series.some((line) => line.includes(one)))
          return series.length === 0
            ? [`${where ?? ''}: ${name}`]
            : absent.map((one) => `${where ?? ''}: ${name}{${one}}`)
        },
      ),
    )
    expect(wrong).toEqual([])
  })
})
