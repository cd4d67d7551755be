// The ops endpoint on a free port, with sources from the test.
import type { ConsumerHealth } from '../../src/domain/consumer-health.js'
import type { ProviderState } from '../../src/domain/provider-state.js'
import type { Annotation } from '../../src/domain/annotation.js'
import { systemClock, type Clock } from '../../src/base/clock.js'
import { openOps, type Ops, type OpsSources } from '../../src/ops/open-ops.js'
import type { Page, PageSources } from '../../src/ops/page.js'
import { ignoreTelemetry } from '../../src/telemetry/event.js'
import { createCounters, type CountedEvent } from '../../src/telemetry/counters.js'

type OpsSettings = Parameters<typeof openOps>[0]

export const runningConsumer = (now: number): ConsumerHealth => ({
  state: 'running',
  joins: 1,
  restarts: 0,
  partitions: { 'firewall/0': { lag: 12, progressAt: now }, 'firewall/1': { lag: 0, progressAt: now } },
})

export const openProvider: ProviderState = {
  state: 'open',
  waiting: 3,
  inFlight: 1,
  allowed: 8,
  spent: { hour: 40, day: 400, run: 40 },
  latencyMs: 120,
}

const emptyPage: Page = {
  emit: () => undefined,
  see: () => undefined,
  alerted: () => undefined,
  open: () => ({
    contentSecurityPolicy: "default-src 'none'",
    paths: { '/': () => ({ type: 'text/html', body: '<p>' }) },
    tick: () => undefined,
    whole: () => ({}),
    changes: () => undefined,
  }),
}

/** Sources that the metrics and the page share. */
export type TestSources = Omit<OpsSources, 'page'> & Omit<PageSources, 'counts' | 'health'>

export const openTestOps = async (
  settings: Partial<OpsSettings> = {},
  sources: Partial<TestSources> = {},
  page: Page = emptyPage,
): Promise<Ops & { readonly url: string; readonly page: Page } & Pick<OpsSources, 'counters'>> => {
  const clock: Clock = sources.clock ?? systemClock
  const counters = sources.counters ?? createCounters(['ip/malicious-info'])
  const all = {
    provider: () => openProvider,
    consumer: () => runningConsumer(clock.now()),
    deadlineMs: 250,
    allowed: { hour: 0, day: 1000 },
    config: { kafka: { brokers: ['localhost:9092'] }, ops: { token: '(hidden)' } },
    version: '0.0.0-test',
    limits: { chunkMs: 120_000, loopMs: 5_000 },
    emit: ignoreTelemetry,
    ...sources,
    counters,
    clock,
  }
  const ops = await openOps(
    { host: '127.0.0.1', port: 0, token: '', allowedHosts: [], ...settings },
    { ...all, page: (health) => page.open({ ...all, counts: counters.read, health }) },
  )
  return { ...ops, url: ops.url ?? '', page, counters }
}

export const seen = (annotation: Partial<Annotation> = {}): CountedEvent & { readonly annotation: Annotation } => ({
  status: annotation.status ?? 'complete',
  verdict: annotation.verdict ?? 'malicious',
  extraction: {},
  annotation: {
    schema_version: 1,
    status: 'complete',
    verdict: 'malicious',
    direction: 'inbound',
    action: 'allowed',
    activity: 'connection',
    summary: '198.51.100.60 is malicious: reported malicious',
    type: 'ip',
    value: '198.51.100.60',
    role: 'source',
    indicators: [],
    ...annotation,
  },
  judged: [
    { decision: { decision: 'lookup', ask: { type: 'ip', value: '198.51.100.60' } }, verdict: {} },
    { decision: { decision: 'skip', reason: 'private_address' }, verdict: { reason: 'private_address' } },
  ],
})
