// In-memory counters since the start, which metrics and the status page read.
import type { Unread } from '../domain/unread.js'
import { statuses, type Status } from '../domain/annotation.js'
import { decisions, type Decision } from '../domain/decision.js'
import { noAlertReasons } from '../domain/no-alert-reason.js'
import { levels, type Finding, type Level } from '../domain/finding.js'
import { reasons, type Reason } from '../domain/reason.js'
import { formatOf } from '../domain/sighting.js'
import type { Emit, TelemetryEvent } from './event.js'
import { createHistogram, type Histogram } from './histogram.js'
import {
  alertLevels,
  bulkLimits,
  requestStatuses,
  callCodes,
  deadLetterReasons,
  memoryResults,
  notSharedReasons,
  reductions,
  stateRefusals,
  verdictRefusals,
  type MemoryResult,
} from './labels.js'
import { wordings } from './wording.js'

/** The parts of an annotated event that counters need. */
export type CountedEvent = {
  readonly status: Status
  readonly verdict: Level
  readonly extraction: { readonly format?: string | undefined }
  readonly judged: readonly { readonly decision: Decision; readonly verdict: { readonly reason?: Reason } }[]
}

export type Count<Labels extends string = string> = {
  readonly labels: Readonly<Record<Labels, string>>
  readonly value: number
}

export type Counts = {
  readonly read: number
  readonly annotated: readonly Count<'status' | 'verdict'>[]
  /** `format` is `none` if no log format recognised the event. */
  readonly byFormat: readonly Count<'format'>[]
  readonly delivered: number
  /** Events with binary values. */
  readonly binary: number
  /** Values that could not be read in the format of their topic. */
  readonly unread: readonly Count<'reason'>[]
  /** `reason` is `none` if there is a verdict. */
  readonly indicators: readonly Count<'decision' | 'reason'>[]
  readonly deadlineMisses: number
  /** Wall time that events waited for lookups; concurrent waits of several partitions count once. */
  readonly waitedMs: number
  readonly memoryLookups: Readonly<Record<MemoryResult, number>>
  readonly refreshes: number
  /** Absent if findings are not written to disk. */
  readonly isMemoryWritable?: boolean
  /** `code` is `ok` or the reason of the failure. */
  readonly providerCalls: readonly Count<'operation' | 'code'>[]
  /** Requests to our own server; `status` is that of the body. */
  readonly requests: readonly Count<'operation' | 'status'>[]
  /** Refused bulk connections and lookups, and closed connections. */
  readonly bulkLimited: readonly Count<'limit'>[]
  readonly reduced: readonly Count<'to'>[]
  readonly deadLetters: readonly Count<'reason'>[]
  readonly alerts: readonly Count<'level'>[]
  /** Malicious or suspicious events that raised no alert. */
  readonly withoutAlert: readonly Count<'reason'>[]
  readonly lateAlerts: number
  /** Events rewritten with a late verdict, and those whose late verdict is dropped. */
  readonly corrected: number
  readonly notFollowedUp: number
  readonly forgedHeaders: number
  /** Topics that this process writes and that did not exist at the start. */
  readonly missingTopics: number
  /** `isCalling` is absent before a leader is elected and without an election; `caller` is absent on the leader itself. */
  readonly election: {
    readonly takeovers: number
    readonly passedOn: number
    readonly isCalling?: boolean
    readonly caller?: string
  }
  /** The verdicts topic; `delayMs` is the delay of the last verdict read, absent before the first. */
  readonly verdicts: {
    readonly learnt: number
    readonly appended: number
    readonly refused: readonly Count<'reason'>[]
    readonly notShared: readonly Count<'reason'>[]
    readonly delayMs?: number
  }
  /** Rejected records of the state topic. */
  readonly stateRefused: readonly Count<'reason'>[]
  /** Every telemetry event, by name. */
  readonly logEvents: readonly Count<'event'>[]
  readonly pipelineSeconds: Histogram
  readonly lookupSeconds: Histogram
  readonly providerCallSeconds: Histogram
  readonly requestSeconds: Histogram
  readonly endToEndSeconds: Histogram
}

export type Counters = {
  readonly emit: Emit
  /** `refreshed` comes before the result (such as `stale`) that triggers the refresh. */
  readonly recalled: (how: 'fresh' | 'stale' | 'cooling' | 'missed' | 'refreshed') => void
  /** Turns the last miss into a coalesced lookup. */
  readonly joined: () => void
  readonly lookedUp: (ms: number, finding: Finding) => void
  readonly chunkRead: (events: number) => void
  readonly eventAnnotated: (event: CountedEvent) => void
  readonly binaryRead: () => void
  readonly valueNotRead: (reason: Unread['reason']) => void
  readonly chunkAnnotated: (ms: number) => void
  readonly waited: (ms: number) => void
  readonly read: () => Counts
}

type EventHandlers = {
  readonly [Name in TelemetryEvent['event']]?: (event: Extract<TelemetryEvent, { event: Name }>) => void
}

const pipelineBounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]
const callBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const endToEndBounds = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600]

const unknownReasons = ['none', ...reasons] as const

type CountTable = {
  /** Ignores labels that are not in the sets. */
  readonly add: (row: string, column: string, times?: number) => void
  readonly get: (row: string, column: string) => number
  readonly read: () => readonly (readonly [row: string, column: string, value: number])[]
}

/** Counters for two closed sets of labels; every combination exists from the start. */
const createCountTable = (rows: readonly string[], columns: readonly string[]): CountTable => {
  const rowAt = new Map(rows.map((name, place) => [name, place * columns.length]))
  const columnAt = new Map(columns.map((name, place) => [name, place]))
  const values = new Float64Array(rows.length * columns.length)
  const placeOf = (row: string, column: string): number => (rowAt.get(row) ?? NaN) + (columnAt.get(column) ?? NaN)
  return {
    add: (row, column, times = 1) => {
      const place = placeOf(row, column)
      if (place >= 0) values[place] = (values[place] ?? 0) + times
    },
    get: (row, column) => values[placeOf(row, column)] ?? 0,
    read: () =>
      rows.flatMap((row, at) =>
        columns.map((column, place) => [row, column, values[at * columns.length + place] ?? 0] as const),
      ),
  }
}

/** `operations` are the known operation names, others count as `other`; `formats` are the ids of the log formats. */
export const createCounters = (operations: readonly string[], formats: readonly string[] = []): Counters => {
  let read = 0
  let delivered = 0
  let binary = 0
  const unread: Record<Unread['reason'], number> = { no_schema: 0, not_decoded: 0 }
  let refreshes = 0
  let lateAlerts = 0
  let corrected = 0
  let notFollowedUp = 0
  let forgedHeaders = 0
  let waitedMs = 0
  let verdictsLearnt = 0
  let verdictsAppended = 0
  let verdictsDelayMs: number | undefined
  let isCalling: boolean | undefined
  let takeovers = 0
  let passedOn = 0
  let missingTopics = 0
  let caller: string | undefined
  const verdictsRefused = createCountTable(['all'], verdictRefusals)
  const stateRefused = createCountTable(['all'], stateRefusals)
  const verdictsNotShared = createCountTable(['all'], notSharedReasons)
  let isMiss = false
  let hasFolder = false
  /** Files whose last write failed. */
  const unwritten = new Set<string>()
  const annotated = createCountTable(statuses, levels)
  const byFormat = createCountTable(['all'], [...formats, 'none'])
  const indicators = createCountTable(decisions, unknownReasons)
  const memoryLookups = createCountTable(['all'], memoryResults)
  const providerCalls = createCountTable([...operations, 'other'], callCodes)
  const requests = createCountTable([...operations, 'other'], requestStatuses)
  const bulkLimited = createCountTable(['all'], bulkLimits)
  const reduced = createCountTable(['all'], reductions)
  const deadLetters = createCountTable(['all'], deadLetterReasons)
  const alerts = createCountTable(['all'], alertLevels)
  const withoutAlert = createCountTable(['all'], noAlertReasons)
  const logEvents = createCountTable(['all'], Object.keys(wordings))
  const pipelineSeconds = createHistogram(pipelineBounds)
  const lookupSeconds = createHistogram(callBounds)
  const providerCallSeconds = createHistogram(callBounds)
  const requestSeconds = createHistogram(callBounds)
  const endToEndSeconds = createHistogram(endToEndBounds)

  const called = (operation: string, code: string, ms: number): void => {
    providerCalls.add(orOther(operations, operation), orOther(callCodes, code))
    providerCallSeconds.observe(ms / 1000)
  }

  const handlers: EventHandlers = {
    provider_answered: ({ operation, ms }) => called(operation, 'ok', ms),
    provider_call_failed: ({ operation, reason, ms }) => called(operation, reason, ms),
    operation_answered: ({ operation, status, ms }) => {
      requests.add(orOther(operations, operation), orOther(requestStatuses, String(status)))
      requestSeconds.observe(ms / 1000)
    },
    bulk_limit_reached: ({ reason }) => bulkLimited.add('all', reason),
    chunk_delivered: ({ events, oldestMs }) => {
      delivered += events
      if (isSane(oldestMs)) endToEndSeconds.observe(oldestMs / 1000, events)
    },
    memory_restored: () => void (hasFolder = true),
    memory_not_persisted: ({ path }) => {
      hasFolder = true
      unwritten.add(path)
    },
    memory_write_failed: ({ path }) => void unwritten.add(path),
    memory_write_resumed: ({ path }) => void unwritten.delete(path),
    record_reduced: ({ to, reason }) => {
      reduced.add('all', to)
      if (to === 'dead_letter' || to === 'pointer') deadLetters.add('all', orOther(deadLetterReasons, reason))
    },
    alerts_raised: ({ alerts: raised, late, levels: raisedLevels }) => {
      for (const level of raisedLevels) alerts.add('all', orOther(alertLevels, level))
      if (late) lateAlerts += raised
    },
    accused_without_alert: ({ reasons: found }) => {
      for (const [reason, count] of Object.entries(found)) withoutAlert.add('all', reason, count)
    },
    retro_alerts_raised: ({ levels: raisedLevels }) => {
      for (const level of raisedLevels) alerts.add('all', orOther(alertLevels, level))
    },
    events_corrected: ({ events }) => void (corrected += events),
    forged_headers_removed: ({ records }) => void (forgedHeaders += records),
    late_events_dropped: ({ events }) => void (notFollowedUp += events),
    topic_missing: () => void (missingTopics += 1),
    calling_began: () => {
      isCalling = true
      caller = undefined
      takeovers++
    },
    calling_ended: () => void (isCalling = false),
    caller_known: ({ address }) => {
      isCalling = false
      caller = address
    },
    question_passed_on: () => void (passedOn += 1),
    verdicts_learnt: ({ verdicts, delayMs }) => {
      verdictsLearnt += verdicts
      verdictsDelayMs = delayMs ?? verdictsDelayMs
    },
    verdicts_appended: ({ verdicts }) => void (verdictsAppended += verdicts),
    state_refused: ({ records, reason }) => stateRefused.add('all', reason, records),
    verdicts_refused: ({ verdicts, reason }) => verdictsRefused.add('all', reason, verdicts),
    verdicts_not_shared: ({ verdicts, reason }) => verdictsNotShared.add('all', reason, verdicts),
  }
  const emit: Emit = (event) => {
    logEvents.add('all', event.event)
    ;(handlers[event.event] as ((event: TelemetryEvent) => void) | undefined)?.(event)
  }

  return {
    emit,
    recalled: (how) => {
      isMiss = how === 'missed'
      if (how === 'refreshed') refreshes++
      else memoryLookups.add('all', how === 'missed' ? 'miss' : how)
    },
    // Called synchronously by the layer below, so the counters are never read in between.
    joined: () => {
      if (!isMiss) return
      isMiss = false
      memoryLookups.add('all', 'miss', -1)
      memoryLookups.add('all', 'coalesced')
    },
    lookedUp: (ms) => lookupSeconds.observe(ms / 1000),
    chunkRead: (events) => void (read += events),
    eventAnnotated: (event) => {
      annotated.add(event.status, event.verdict)
      byFormat.add('all', formatOf(event.extraction) ?? 'none')
      for (const { decision, verdict } of event.judged) indicators.add(decision.decision, verdict.reason ?? 'none')
    },
    binaryRead: () => {
      binary++
    },
    valueNotRead: (reason) => {
      unread[reason]++
    },
    chunkAnnotated: (ms) => pipelineSeconds.observe(ms / 1000),
    waited: (ms) => void (waitedMs += ms),
    read: () => ({
      read,
      delivered,
      binary,
      unread: Object.entries(unread).map(([reason, value]) => ({ labels: { reason }, value })),
      refreshes,
      lateAlerts,
      corrected,
      notFollowedUp,
      forgedHeaders,
      ...(hasFolder && { isMemoryWritable: unwritten.size === 0 }),
      waitedMs,
      annotated: annotated.read().map(([status, verdict, value]) => ({ labels: { status, verdict }, value })),
      byFormat: byFormat.read().map(([, format, value]) => ({ labels: { format }, value })),
      indicators: indicators.read().map(([decision, reason, value]) => ({ labels: { decision, reason }, value })),
      deadlineMisses: decisions.reduce((sum, decision) => sum + indicators.get(decision, 'deadline'), 0),
      memoryLookups: Object.fromEntries(
        memoryResults.map((kind) => [kind, memoryLookups.get('all', kind)]),
      ) as Counts['memoryLookups'],
      providerCalls: providerCalls.read().map(([operation, code, value]) => ({ labels: { operation, code }, value })),
      requests: requests.read().map(([operation, status, value]) => ({ labels: { operation, status }, value })),
      bulkLimited: bulkLimited.read().map(([, limit, value]) => ({ labels: { limit }, value })),
      reduced: reduced.read().map(([, to, value]) => ({ labels: { to }, value })),
      deadLetters: deadLetters.read().map(([, reason, value]) => ({ labels: { reason }, value })),
      alerts: alerts.read().map(([, level, value]) => ({ labels: { level }, value })),
      withoutAlert: withoutAlert.read().map(([, reason, value]) => ({ labels: { reason }, value })),
      verdicts: {
        learnt: verdictsLearnt,
        appended: verdictsAppended,
        refused: verdictsRefused.read().map(([, reason, value]) => ({ labels: { reason }, value })),
        notShared: verdictsNotShared.read().map(([, reason, value]) => ({ labels: { reason }, value })),
        ...(verdictsDelayMs !== undefined && { delayMs: verdictsDelayMs }),
      },
      stateRefused: stateRefused.read().map(([, reason, value]) => ({ labels: { reason }, value })),
      missingTopics,
      election: {
        takeovers,
        passedOn,
        ...(isCalling !== undefined && { isCalling }),
        ...(caller !== undefined && { caller }),
      },
      logEvents: logEvents.read().map(([, event, value]) => ({ labels: { event }, value })),
      pipelineSeconds: pipelineSeconds.read(),
      lookupSeconds: lookupSeconds.read(),
      providerCallSeconds: providerCallSeconds.read(),
      requestSeconds: requestSeconds.read(),
      endToEndSeconds: endToEndSeconds.read(),
    }),
  }
}

/** The timestamp of a record comes from its producer and may be wrong. */
const isSane = (ms: number | undefined): ms is number => ms !== undefined && ms > -60_000 && ms < 31 * 86_400_000

const orOther = (list: readonly string[], text: string): string => (list.includes(text) ? text : 'other')
