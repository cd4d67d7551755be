// Telemetry of `run` and `serve`: counters, logs, traces and the ops endpoint.
import { budgetOf } from '../config/budget.js'
import { redact } from '../config/redact.js'
import type { Config } from '../config/schema.js'
import { backgroundClock, type Clock } from '../base/clock.js'
import type { Level } from '../domain/finding.js'
import { operationNames } from '../domain/operations.js'
import { firstPortInUse } from './free-ports.js'
import { kafkaSettingsOf } from './limits.js'
import { openOps, type Ops, type OpsSources } from '../ops/open-ops.js'
import type { Page, PageSources, RaisedAlert } from '../ops/page.js'
import { observePipeline } from '../ops/observe-pipeline.js'
import { watchBinary } from './watch-binary.js'
import { watchFeedUse } from './watch-feed-use.js'
import { watchOwnAddresses } from './watch-own-addresses.js'
import type { Pipeline } from '../pipeline/pipeline.js'
import type { Emit } from '../telemetry/event.js'
import { summariseBursts } from '../telemetry/summarise-bursts.js'
import { createCounters, type Counters } from '../telemetry/counters.js'
import { createFeedUse, type FeedUse } from '../telemetry/feed-use.js'
import { openTraces } from '../telemetry/traces.js'
import { ConfigurationError } from '../config/problem.js'
import { version } from '../terminal/version.js'
import { allSettings } from './load-config.js'
import { parts } from './parts.js'

export type Watch = {
  /** Counts, stores and logs a telemetry event. */
  readonly emit: Emit
  readonly hooks: Pick<Counters, 'recalled' | 'joined' | 'lookedUp' | 'waited'>
  readonly observe: (pipeline: Pipeline) => Pipeline
  /** Logs the totals of the run, if it has started. */
  readonly logTotals: () => void
  /** Logs pending counts before a stop. */
  readonly flush: () => void
  /** Shows an alert on the status page. */
  readonly alerted: (alert: RaisedAlert & Parameters<ReturnType<typeof createFeedUse>['alerted']>[0]) => void
  /** The counts of a feed so far. */
  readonly feedUse: (feed: string) => FeedUse | undefined
  /** Throws a ConfigurationError if the port cannot be used. */
  readonly serve: (
    views: Shared<'provider' | 'consumer' | 'feeds' | 'sources' | 'rules' | 'kind'> &
      Pick<OpsSources, 'geo' | 'sinks'> &
      Pick<PageSources, 'seenOf'>,
    port?: number,
    setting?: PortSetting,
  ) => Promise<Ops>
}

type PortSetting = 'ops.port' | `${string}.opsPort`

/** Data for both the metrics and the status page. */
type Shared<Names extends keyof OpsSources & keyof PageSources> = Pick<OpsSources, Names> & Pick<PageSources, Names>

/** The interval at which repeated failures are logged as one count. */
const burstMs = 30_000
/** Time for a stuck chunk to reach its own deadline before health fails. */
const graceMs = 5_000
const loopMs = 5_000

/** `formats`: ids of the log formats in use, for processes that read events. */
export const watchRun = async (config: Config, log: Emit, formats: readonly string[] = []): Promise<Watch> => {
  const clock = backgroundClock
  const now = (): number => clock.now()
  const startedAt = now()
  const counters = createCounters(operationNames, formats)
  const page = config.ops.enabled ? await openPage(clock) : undefined
  const use = createFeedUse(
    config.feeds.map(({ name }) => name),
    (event) => emit(event),
  )
  const see = page?.see ?? ((): void => undefined)
  const traces = openTraces(version, now)
  const logged = summariseBursts(log, clock, burstMs)
  let isStarted = false
  const emit: Emit = (event) => {
    isStarted ||= event.event === 'started'
    counters.emit(event)
    traces.emit(event)
    page?.emit(event)
    logged.emit(event)
  }
  const serve: Watch['serve'] = async (views, port = config.ops.port, setting = 'ops.port') => {
    if (!config.ops.enabled) return { url: undefined, close: () => Promise.resolve() }
    const shared = { ...views, allowed: allowedBy(config), deadlineMs: config.enrich.deadlineMs, version }
    return openOps(
      { ...config.ops, port },
      {
        ...shared,
        counters,
        page:
          views.kind === 'notify' || !page
            ? undefined
            : (health) =>
                page.open({ ...shared, counts: counters.read, health, config: redact(config, allSettings.schema) }),
        limits: { chunkMs: kafkaSettingsOf(config).limits.chunkDeadlineMs + graceMs, loopMs },
        clock,
        emit,
      },
    ).catch((error: unknown) => {
      throw new ConfigurationError([{ setting, message: notListening(config.ops.host, port, error) }])
    })
  }
  return {
    emit,
    logTotals: () => {
      if (!isStarted) return
      const { read, delivered, annotated, alerts, deadLetters, providerCalls } = counters.read()
      const of = (verdict: Level): number => total(annotated.filter(({ labels }) => labels.verdict === verdict))
      emit({
        event: 'run_totalled',
        read,
        delivered,
        malicious: of('malicious'),
        suspicious: of('suspicious'),
        clean: of('clean'),
        unknown: of('unknown'),
        alerts: total(alerts),
        deadLetters: total(deadLetters),
        calls: total(providerCalls),
        seconds: Math.round((now() - startedAt) / 1000),
      })
    },
    flush: logged.flush,
    hooks: counters,
    observe: (pipeline) => {
      const read = watchBinary(observePipeline(traces.pipeline(pipeline), { counters, see, now }), {
        counters,
        emit,
      })
      const seen = config.feeds.length === 0 ? read : watchFeedUse(read, use.see)
      return config.gate.ownRanges.length === 0 ? watchOwnAddresses(seen, emit) : seen
    },
    feedUse: use.of,
    alerted: (alert) => {
      use.alerted(alert)
      page?.alerted(alert)
    },
    serve,
  }
}

const openPage = async (clock: Clock): Promise<Page | undefined> => {
  for (const { page } of parts) if (page) return page(clock)
  return undefined
}

const allowedBy = ({ admit }: Config): OpsSources['allowed'] => {
  const { perHour, perDay, isDefault } = budgetOf(admit)
  return { hour: perHour, day: perDay, isDefault }
}

/** Throws a ConfigurationError if a port cannot be used, before slow steps begin. */
export const refusePortsInUse = async (
  { ops }: Config,
  ports: readonly number[],
  setting: PortSetting,
): Promise<void> => {
  const found = ops.enabled ? await firstPortInUse(ops.host, ports) : undefined
  if (found) throw new ConfigurationError([{ setting, message: notListening(ops.host, found.port, found.error) }])
}

const total = (counts: readonly { readonly value: number }[]): number =>
  counts.reduce((sum, { value }) => sum + value, 0)

const notListening = (host: string, port: number, error: unknown): string => {
  const { code = '', message } = error as NodeJS.ErrnoException
  const instead = 'or set ops.enabled to false to run without health, metrics and status page'
  return code === 'EADDRINUSE'
    ? `is in use: another process listens on port ${port} of ${host}; stop it, choose another port (0 takes any free one), ${instead}`
    : `cannot be used: port ${port} of ${host}: ${message}; choose another port or ops.host, ${instead}`
}
