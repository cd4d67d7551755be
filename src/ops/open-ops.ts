// Opens the ops endpoint: health, readiness, metrics and the status page.
import type { ConsumerHealth } from '../domain/consumer-health.js'
import type { AllowedCalls, ProviderState } from '../domain/provider-state.js'
import type { Clock } from '../base/clock.js'
import type { Emit } from '../telemetry/event.js'
import type { FeedMetrics } from '../telemetry/feed-metrics.js'
import type { GeoMetrics } from '../telemetry/geo-metrics.js'
import type { SourceMetrics } from '../telemetry/source-metrics.js'
import { createMetrics, type ProcessKind } from '../telemetry/metrics.js'
import type { Counters } from '../telemetry/counters.js'
import { healthOf, readinessOf, type Health, type HealthLimits, measureEventLoopDelay } from './health.js'
import { createHistory, type Sample } from './history.js'
import type { AlertLog } from './alert-log.js'
import { renderHistory, type SeenOf } from './history-page.js'
import { configRows } from './page.js'
import type { RecentActivity } from './recent-activity.js'
import { createOpsServer } from './server.js'
import { createWatcherStream } from './watcher-stream.js'
import { createView } from './view.js'
import type { ShownFeed, ShownSource } from './view-tables.js'

type OpsSettings = {
  readonly host: string
  readonly port: number
  readonly token: string
  readonly allowedHosts: readonly string[]
}

export type OpsSources = {
  readonly counters: Counters
  readonly recent: RecentActivity
  readonly provider?: (() => ProviderState) | undefined
  readonly consumer?: (() => ConsumerHealth) | undefined
  readonly feeds?: (() => readonly (FeedMetrics & ShownFeed)[]) | undefined
  readonly geo?: (() => readonly GeoMetrics[]) | undefined
  /** Other providers; absent where none is configured. */
  readonly sources?: (() => readonly (SourceMetrics & ShownSource)[]) | undefined
  /** Where there are alerts. */
  readonly alerts?: AlertLog | undefined
  /** Where sightings are counted. */
  readonly seenOf?: SeenOf | undefined
  /** How long events wait for answers at most. */
  readonly deadlineMs: number
  readonly allowed: AllowedCalls
  /** With secrets hidden. */
  readonly config: unknown
  readonly version: string
  /** What the page and the metrics are about. */
  readonly kind?: ProcessKind
  readonly limits: HealthLimits
  readonly clock: Clock
  readonly emit: Emit
}

export type Ops = { readonly url: string | undefined; readonly close: () => Promise<void> }

const tickMs = 1000

/** Throws if the port cannot be used: a run without health checks must not start. */
export const openOps = async (settings: OpsSettings, sources: OpsSources): Promise<Ops> => {
  const { counters, recent, provider, consumer, allowed, version, kind = 'pipeline', limits, clock, emit } = sources
  const counts = counters.read
  const loop = measureEventLoopDelay(clock)
  const history = createHistory(() => sampleOf(sources))
  const stream = createWatcherStream()
  const health = (): Health => healthOf(consumer?.(), loop.blockedMs(), limits, clock.now())
  const view = createView({
    counts,
    provider,
    consumer,
    kind,
    feeds: sources.feeds ?? (() => []),
    sources: sources.sources,
    alerts: sources.alerts,
    deadlineMs: sources.deadlineMs,
    health,
    history,
    recent,
    now: () => clock.now(),
    startedAt: clock.now(),
    version,
    allowed,
  })
  const server = createOpsServer({
    token: settings.token,
    allowedHosts: settings.allowedHosts,
    health,
    readiness: () => readinessOf(consumer?.(), clock.now()),
    metrics: createMetrics({
      counts,
      feeds: sources.feeds,
      geo: sources.geo,
      sources: sources.sources,
      rules: sources.alerts?.fired,
      deadlineMs: sources.deadlineMs,
      provider,
      consumer,
      allowed,
      version,
      kind,
    }),
    kind,
    view,
    history: (value) => renderHistory(value, sources.seenOf ?? (() => []), sources.alerts),
    config: configRows(sources.config),
    stream,
  })
  let cancel = (): void => undefined
  const tick = (): void => {
    history.tick()
    stream.send(view)
    cancel = clock.after(tickMs, tick)
  }
  cancel = clock.after(tickMs, tick)
  const close = async (): Promise<void> => {
    cancel()
    loop.close()
    stream.close()
    await server.close()
  }
  try {
    const url = await server.listen({ host: settings.host, port: settings.port })
    emit({ event: 'ops_listening', url })
    return { url, close }
  } catch (error) {
    await close()
    throw error
  }
}

const sampleOf = ({ counters, provider, consumer, clock }: OpsSources): Sample => {
  const counts = counters.read()
  const { fresh, stale, coalesced, miss } = counts.memoryLookups
  const reasons: Record<string, number> = {}
  let indicators = 0
  for (const { labels, value } of counts.indicators) {
    indicators += value
    reasons[labels.reason] = (reasons[labels.reason] ?? 0) + value
  }
  return {
    at: clock.now(),
    requests: counts.requests.reduce((sum, { value }) => sum + value, 0),
    read: counts.read,
    indicators,
    lookups: fresh + stale + coalesced + miss,
    hits: fresh + stale + coalesced,
    calls: counts.providerCalls.reduce((sum, { value }) => sum + value, 0),
    credits: provider?.().spent.run ?? 0,
    annotated: counts.annotated.reduce((sum, { value }) => sum + value, 0),
    delivered: counts.delivered,
    lag: Object.values(consumer?.().partitions ?? {}).reduce((sum, { lag }) => sum + lag, 0),
    reasons,
  }
}
