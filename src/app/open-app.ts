// Composition root: builds reader, lookup and pipeline from the configuration. Alerts and server are in open-alerting and open-server.
import { parseRange } from '../domain/address.js'
import { createRangeSet } from '../domain/range-set.js'
import { intelligenceProblems } from '../config/intelligence-problems.js'
import { accepted, attempt } from '../config/load-config.js'
import { ConfigurationError, type Refused } from '../config/problem.js'
import type { Config } from '../config/schema.js'
import { systemClock } from '../base/clock.js'
import { openParts, type Scope } from '../base/scope.js'
import type { Decide, GateOptions } from '../domain/decision.js'
import type { Finding } from '../domain/finding.js'
import type { ProviderState } from '../domain/provider-state.js'
import type { Names, Sighting } from '../domain/sighting.js'
import { keyOf } from '../domain/indicator.js'
import { judge, judgeCounting } from '../domain/judge.js'
import { createDecide } from '../lookup/gate.js'
import { createAnnotate } from '../pipeline/annotate/annotate.js'
import { createAnnotationKey } from '../pipeline/annotate/annotation-key.js'
import { createBatchPipeline } from '../pipeline/batch/batch-pipeline.js'
import { createJoinBatch } from '../pipeline/batch/join-batch.js'
import { decode, decodeLimits } from '../pipeline/decode.js'
import { createAskLater } from '../pipeline/enrich/ask-later.js'
import { createEnrich } from '../pipeline/enrich/enrich.js'
import { createExtract, extractLimits, type Extract } from '../pipeline/extract/extract.js'
import { createInFlight } from '../pipeline/enrich/in-flight.js'
import { createPipeline, type Pipeline } from '../pipeline/pipeline.js'
import { createWaits, type Wait, type Waits } from '../pipeline/enrich/wait.js'
import type { GeoDatabases } from '../domain/geo.js'
import { eventsInRecord, openRecordOf, openSchemaValues } from './open-records.js'
import { openIndicatorLookup, type IndicatorLookup, type LookupOptions } from './open-indicator-lookup.js'
import { ignoreTelemetry } from '../telemetry/event.js'
import { openPlaces } from './open-places.js'
import { createAppNews } from './app-news.js'
import { loadFiles, loadReadingFiles, type Files, type ReadingFiles } from './load-files.js'
import { watchAllow } from './watch-allow.js'

/** Reads events and decides which indicators may be looked up; sends nothing. */
type EventReader = {
  /** The events of a record: a single event, or the members of a batch. */
  readonly eventsInRecord: (bytes: Buffer) => readonly Buffer[]
  readonly decode: (bytes: Buffer) => ReturnType<typeof decode>
  readonly extract: Extract
  readonly decide: Decide
  readonly gate: GateOptions
  readonly files: ReadingFiles
}

export type App = EventReader &
  IndicatorLookup & {
    readonly pipeline: Pipeline
    /** The pipeline with `observe` around the processing of single events, so that it sees every batch member. */
    readonly observedPipeline: (observe: (single: Pipeline) => Pipeline) => Pipeline
    /** For events that were written before: uses the findings known now and always names the event. */
    readonly again: Pipeline
    /** Like `again`, but makes no calls. */
    readonly known: Pipeline
    readonly waits: Waits
    /** Country and network of addresses; absent without a database. */
    readonly geo: GeoDatabases | undefined
  }

type ReaderOptions = {
  /** Whether the events are lines of one file, in order. */
  readonly isOneSource?: boolean
  /** Returns the names whose values in text are currently noted. */
  readonly names?: (() => Names | undefined) | undefined
  /** Loaded if absent. */
  readonly files?: ReadingFiles
}

export type AppOptions = LookupOptions &
  ReaderOptions & {
    /** The caller resolves `auto`, because it knows the source of the events. */
    readonly mode: 'live' | 'complete'
    /** Whether events sent without an answer keep waiting for it. */
    readonly asksLater?: boolean
    /** Milliseconds in which the process was idle. */
    readonly idleMs?: () => number
    /** Called with the time that events waited for answers. */
    readonly waited?: (ms: number) => void
  }

export const openReader = (
  config: Config,
  { isOneSource = false, names, files: given }: ReaderOptions = {},
): EventReader | Refused => {
  const files = given ?? loadReadingFiles(config)
  if ('problems' in files) return files
  const { gate, formats } = files
  const extract = createExtract({
    ...extractLimits,
    ownRanges: gate.ownRanges,
    trustedProxies: createRangeSet(config.extract.trustedProxies.flatMap((text) => parseRange(text) ?? [])),
    formats,
    isOneSource,
    annotationKey: createAnnotationKey(config.output.key),
    names,
  })
  return {
    eventsInRecord: eventsInRecord(config),
    decode: (bytes) => decode(bytes, decodeLimits),
    extract,
    decide: createDecide(gate),
    gate,
    files,
  }
}

export const openApp = (config: Config, options: AppOptions): Promise<App | Refused> =>
  attempt(() => openParts((scope) => openAppParts(scope, config, options)))

const openAppParts = async (scope: Scope, config: Config, options: AppOptions): Promise<App> => {
  const { clock = systemClock, emit = ignoreTelemetry, mode, urgency = 'live', news = createAppNews() } = options
  const missing = intelligenceProblems(config)
  if (missing.length > 0) throw new ConfigurationError(missing)
  const files = options.files ?? accepted<Files>(loadFiles(config))
  const { allowed, table } = files
  const reader = accepted<EventReader>(openReader(config, { ...options, files }))
  const geo = scope.use(await openPlaces(config, { clock, emit }))
  const lookups = scope.use(
    accepted<IndicatorLookup>(await openIndicatorLookup(config, reader.decide, { ...options, files, news })),
  )
  const judgeBy = config.intel.sources.length > 0 ? judgeCounting : judge
  const inFlight = createInFlight(clock)
  const waits = createWaits({
    ...config.enrich,
    clock,
    estimateMs: lookups.asked && ((indicator) => lookups.asked?.estimateMs(keyOf(indicator))),
    provider: lookups.asked?.state,
    quietMs: inFlight.quietMs,
    idleMs: options.idleMs ?? (() => performance.eventLoopUtilization().idle),
    waited: options.waited,
  })
  const isAway = (): boolean => awayStates.has(lookups.asked?.state().state ?? 'open')
  const later = scope.use(options.asksLater ? createAskLater({ lookup: lookups.lookup, clock, isAway }) : undefined)
  if (later) news.subscribe('answered', later.answered)
  scope.use(await watchAllow(config, allowed, { clock, emit }))
  const enriching = {
    lookup: lookups.lookup,
    decide: reader.decide,
    decisions: allowed.version,
    judge: (finding: Finding, sighting: Sighting, at: number) => judgeBy(finding, sighting, table, at),
    clock,
    inFlight,
    urgency,
  }
  const enrich = createEnrich({ ...enriching, later })
  const placing = { ...config.output, isAnnotatedInput: options.replay?.isAnnotated ?? false }
  const wait = mode === 'complete' ? waits.complete : waits.live
  const singleEvents = (hasId: boolean, waiting: Wait, enrichBy = enrich): Pipeline =>
    createPipeline({
      ...reader,
      enrich: enrichBy,
      annotate: createAnnotate({
        ...placing,
        ownRanges: reader.gate.ownRanges,
        replayId: options.replay?.id,
        hasId,
        geo,
        clock,
      }),
      clock,
      wait: waiting,
    })
  // Exactly-once output has no duplicates to drop. Annotations in a separate topic and replayed events must name their event.
  const hasId =
    config.kafka.delivery === 'at-least-once' || config.output.placement === 'topic' || options.replay !== undefined
  const single = singleEvents(hasId, wait)
  const keeps = placing.onExisting === 'keep' ? undefined : 'replace'
  const registry = scope.use(await openSchemaValues(config, { ...options, clock, isPatient: mode === 'complete' }))
  const prepare = registry?.prepare
  const cut = openRecordOf(config, placing.isAnnotatedInput ? 'remove' : keeps, registry)
  const join = createJoinBatch({ ...placing, splits: config.kafka.input.batches === 'split' })
  const withBatches = (one: Pipeline, waiting: Wait): Pipeline =>
    cut ? createBatchPipeline(one, { cut, prepare, join, wait: waiting }) : one
  return {
    ...reader,
    ...lookups,
    pipeline: withBatches(single, wait),
    observedPipeline: (observe) => withBatches(observe(single), wait),
    again: withBatches(singleEvents(true, waits.none), waits.none),
    known: withBatches(singleEvents(true, waits.none, createEnrich({ ...enriching, isFree: true })), waits.none),
    waits,
    geo,
  }
}

/** In these states, lookups are refused or have to wait. */
const awayStates: ReadonlySet<ProviderState['state']> = new Set(['breaker_open', 'stopped', 'paused'])
