// Opens the ops endpoint: health, readiness, metrics and, if there is one, the status page.
import type { ConsumerHealth } from '../domain/consumer-health.js'
import type { AllowedCalls, ProviderState } from '../domain/provider-state.js'
import type { Clock } from '../base/clock.js'
import type { Emit } from '../telemetry/event.js'
import type { FeedMetrics } from '../telemetry/feed-metrics.js'
import type { GeoMetrics } from '../telemetry/geo-metrics.js'
import type { RuleMetrics } from '../telemetry/rule-metrics.js'
import type { SourceMetrics } from '../telemetry/source-metrics.js'
import type { SinkMetrics } from '../telemetry/sink-metrics.js'
import { createMetrics, type ProcessKind } from '../telemetry/metrics.js'
import type { Counters } from '../telemetry/counters.js'
import { healthOf, readinessOf, type Health, type HealthLimits, measureEventLoopDelay } from './health.js'
import { createOpsServer, type OpsPage } from './server.js'
import { createWatcherStream } from './watcher-stream.js'

type OpsSettings = {
  readonly host: string
  readonly port: number
  readonly token: string
  readonly allowedHosts: readonly string[]
}

export type OpsSources = {
  readonly counters: Counters
  readonly provider?: (() => ProviderState) | undefined
  readonly consumer?: (() => ConsumerHealth) | undefined
  readonly feeds?: (() => readonly FeedMetrics[]) | undefined
  readonly geo?: (() => readonly GeoMetrics[]) | undefined
  /** Other providers; absent if none is configured. */
  readonly sources?: (() => readonly SourceMetrics[]) | undefined
  /** Absent without alerts. */
  readonly rules?: (() => readonly RuleMetrics[]) | undefined
  /** Only in `notify`. */
  readonly sinks?: (() => SinkMetrics) | undefined
  /** The maximum time that events wait for lookups. */
  readonly deadlineMs?: number
  readonly allowed: AllowedCalls
  readonly version: string
  /** The job of the process, which decides the set of metrics. */
  readonly kind?: ProcessKind
  readonly limits: HealthLimits
  readonly clock: Clock
  readonly emit: Emit
  readonly page?: ((health: () => Health) => OpsPage) | undefined
}

export type Ops = { readonly url: string | undefined; readonly close: () => Promise<void> }

const tickMs = 1000

/** Throws if the port cannot be used: a run without health checks must not start. */
export const openOps = async (settings: OpsSettings, sources: OpsSources): Promise<Ops> => {
  const { counters, consumer, limits, clock, emit, kind = 'pipeline' } = sources
  const loop = measureEventLoopDelay(clock)
  const stream = createWatcherStream()
  const health = (): Health => healthOf(consumer?.(), loop.blockedMs(), limits, clock.now())
  const page = sources.page?.(health)
  const server = createOpsServer({
    token: settings.token,
    allowedHosts: settings.allowedHosts,
    health,
    readiness: () => readinessOf(consumer?.(), clock.now()),
    metrics: createMetrics({ ...sources, counts: counters.read, kind }),
    page,
    stream,
  })
  let cancel = (): void => undefined
  const tick = (): void => {
    if (page) {
      page.tick()
      stream.send(page.changes)
    }
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
