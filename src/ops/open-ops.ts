// Puts the endpoint together: what is counted, what is remembered of the last hour, and the server that shows it.
import type { Clock } from '../domain/clock.js'
import type { Tell } from '../telemetry/event.js'
import { createMetrics, type ConsumerView, type ProviderView } from '../telemetry/metrics.js'
import type { Tally } from '../telemetry/tally.js'
import { healthOf, readinessOf, type Health, type HealthLimits } from './health.js'
import { createHistory, type Sample } from './history.js'
import { watchLoop } from './loop-watch.js'
import { configRows } from './page.js'
import type { Recent } from './recent.js'
import { createOpsServer } from './server.js'
import { createStream } from './stream.js'
import { createView } from './view.js'

export type OpsSettings = {
  readonly host: string
  readonly port: number
  readonly token: string
  readonly allowedHosts: readonly string[]
}

export type OpsSources = {
  readonly tally: Tally
  readonly recent: Recent
  readonly provider?: (() => ProviderView) | undefined
  readonly consumer?: (() => ConsumerView) | undefined
  /** What local feeds hold. */
  readonly feedEntries?: (() => number) | undefined
  readonly allowed: { readonly hour: number; readonly day: number }
  /** As it may be shown. */
  readonly config: unknown
  readonly version: string
  /** The line with its status page, or a service that answers callers, which has none. */
  readonly shows?: 'line' | 'answers'
  readonly limits: HealthLimits
  readonly clock: Clock
  readonly tell: Tell
}

export type Ops = { readonly url: string | undefined; readonly close: () => Promise<void> }

const tickMs = 1000

/** Throws where the port cannot be had: a run that nobody can ask for its health is not to be started. */
export const openOps = async (settings: OpsSettings, sources: OpsSources): Promise<Ops> => {
  const { tally, recent, provider, consumer, allowed, version, shows = 'line', limits, clock, tell } = sources
  const counts = tally.read
  const loop = watchLoop(clock)
  const history = createHistory(() => sampleOf(sources))
  const stream = createStream()
  const health = (): Health => healthOf(consumer?.(), loop.blockedMs(), limits, clock.now())
  const view = createView({
    counts,
    provider,
    consumer,
    feedEntries: sources.feedEntries,
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
    metrics: createMetrics({ counts, provider, consumer, allowed, version, shows }),
    ...(shows === 'line' ? { view } : {}),
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
    tell({ event: 'ops_listening', url, page: shows === 'line' })
    return { url, close }
  } catch (error) {
    await close()
    throw error
  }
}

const sampleOf = ({ tally, provider, consumer, clock }: OpsSources): Sample => {
  const counts = tally.read()
  const { fresh, stale, coalesced, miss } = counts.recalls
  const reasons: Record<string, number> = {}
  let indicators = 0
  for (const { labels, value } of counts.indicators) {
    indicators += value
    reasons[labels.reason] = (reasons[labels.reason] ?? 0) + value
  }
  return {
    at: clock.now(),
    read: counts.read,
    indicators,
    asks: fresh + stale + coalesced + miss,
    hits: fresh + stale + coalesced,
    calls: counts.calls.reduce((sum, { value }) => sum + value, 0),
    credits: provider?.().spent.run ?? 0,
    left: counts.left.reduce((sum, { value }) => sum + value, 0),
    delivered: counts.delivered,
    lag: Object.values(consumer?.().partitions ?? {}).reduce((sum, { lag }) => sum + lag, 0),
    reasons,
  }
}
