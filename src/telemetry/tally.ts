// What has happened since the start, as plain counters over closed sets: the one source of the metrics and of the status page.
import { statuses, type Status } from '../domain/annotation.js'
import { decisions, type Decision } from '../domain/decision.js'
import { levels, type Finding, type Level } from '../domain/finding.js'
import { reasons, type Reason } from '../domain/reason.js'
import { formatOf, type Extraction } from '../domain/sighting.js'
import { createCountTable } from './count-table.js'
import type { Tell, TelemetryEvent } from './event.js'
import { createHistogram, type Histogram } from './histogram.js'
import {
  alertLevels,
  answerStatuses,
  callCodes,
  deadLetterReasons,
  recallKinds,
  rungs,
  type RecallKind,
} from './labels.js'
import { wordings } from './wording.js'

/** An event as it leaves the line. */
export type SeenEvent = {
  readonly status: Status
  readonly verdict: Level
  readonly extraction: Pick<Extraction, 'format'>
  readonly judged: readonly { readonly decision: Decision; readonly verdict: { readonly reason?: Reason } }[]
}

export type Count<Labels extends string = string> = {
  readonly labels: Readonly<Record<Labels, string>>
  readonly value: number
}

export type Counts = {
  readonly read: number
  readonly left: readonly Count<'status' | 'verdict'>[]
  /** `format` is `none` where no log format recognised the event. */
  readonly byFormat: readonly Count<'format'>[]
  readonly delivered: number
  /** `reason` is `none` where there is a verdict. */
  readonly indicators: readonly Count<'decision' | 'reason'>[]
  readonly deadlineMisses: number
  /** How long events waited for answers, in wall time: several partitions that wait at the same time count once. */
  readonly waitedMs: number
  readonly recalls: Readonly<Record<RecallKind, number>>
  readonly refreshes: number
  /** Whether what is paid for can be written to disk; absent where no folder is used. */
  readonly isMemoryKept?: boolean
  /** `code` is `ok`, or what kind of failure it was. */
  readonly calls: readonly Count<'operation' | 'code'>[]
  /** What callers of our own service were given; `status` is that of the body. */
  readonly answers: readonly Count<'operation' | 'status'>[]
  readonly reduced: readonly Count<'to'>[]
  readonly deadLetters: readonly Count<'reason'>[]
  readonly alerts: readonly Count<'level'>[]
  readonly lateAlerts: number
  /** Every telemetry event by its name. */
  readonly notices: readonly Count<'event'>[]
  readonly lineSeconds: Histogram
  readonly lookupSeconds: Histogram
  readonly callSeconds: Histogram
  readonly answerSeconds: Histogram
  readonly endToEndSeconds: Histogram
}

export type Tally = {
  readonly tell: Tell
  /** `refreshed` comes before the answer that it refreshes. */
  readonly recalled: (how: 'fresh' | 'stale' | 'cooling' | 'missed' | 'refreshed') => void
  /** What was just missed is already asked for. */
  readonly joined: () => void
  readonly lookedUp: (ms: number, finding: Finding) => void
  readonly chunkRead: (events: number) => void
  readonly eventLeft: (event: SeenEvent) => void
  readonly chunkLeft: (ms: number) => void
  /** Events waited for answers so long, in wall time. */
  readonly waited: (ms: number) => void
  readonly read: () => Counts
}

type Counted = {
  readonly [Name in TelemetryEvent['event']]?: (event: Extract<TelemetryEvent, { event: Name }>) => void
}

const lineBounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]
const callBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const endBounds = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600]

const why = ['none', ...reasons] as const

/** `operations` are the names that calls may have, any other counts as `other`; `formats` the ids of the log formats in use. */
export const createTally = (operations: readonly string[], formats: readonly string[] = []): Tally => {
  let read = 0
  let delivered = 0
  let refreshes = 0
  let lateAlerts = 0
  let waitedMs = 0
  let isMiss = false
  let hasFolder = false
  /** Files that could not be written the last time. */
  const unwritten = new Set<string>()
  const left = createCountTable(statuses, levels)
  const byFormat = createCountTable(['all'], [...formats, 'none'])
  const indicators = createCountTable(decisions, why)
  const recalls = createCountTable(['all'], recallKinds)
  const calls = createCountTable([...operations, 'other'], callCodes)
  const answers = createCountTable([...operations, 'other'], answerStatuses)
  const reduced = createCountTable(['all'], rungs)
  const deadLetters = createCountTable(['all'], deadLetterReasons)
  const alerts = createCountTable(['all'], alertLevels)
  const notices = createCountTable(['all'], Object.keys(wordings))
  const lineSeconds = createHistogram(lineBounds)
  const lookupSeconds = createHistogram(callBounds)
  const callSeconds = createHistogram(callBounds)
  const answerSeconds = createHistogram(callBounds)
  const endToEndSeconds = createHistogram(endBounds)

  const called = (operation: string, code: string, ms: number): void => {
    calls.add(orOther(operations, operation), orOther(callCodes, code))
    callSeconds.observe(ms / 1000)
  }

  const counted: Counted = {
    service_answered: ({ operation, ms }) => called(operation, 'ok', ms),
    service_call_failed: ({ operation, reason, ms }) => called(operation, reason, ms),
    operation_answered: ({ operation, status, ms }) => {
      answers.add(orOther(operations, operation), orOther(answerStatuses, String(status)))
      answerSeconds.observe(ms / 1000)
    },
    chunk_delivered: ({ events, oldestMs }) => {
      delivered += events
      if (isSane(oldestMs)) endToEndSeconds.observe(oldestMs / 1000, events)
    },
    memory_restored: () => void (hasFolder = true),
    memory_not_kept: ({ path }) => {
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
  }
  const tell: Tell = (event) => {
    notices.add('all', event.event)
    ;(counted[event.event] as ((event: TelemetryEvent) => void) | undefined)?.(event)
  }

  return {
    tell,
    recalled: (how) => {
      isMiss = how === 'missed'
      if (how === 'refreshed') refreshes++
      else recalls.add('all', how === 'missed' ? 'miss' : how)
    },
    // The layer below says so in the same breath, so nobody reads the counters in between.
    joined: () => {
      if (!isMiss) return
      isMiss = false
      recalls.add('all', 'miss', -1)
      recalls.add('all', 'coalesced')
    },
    lookedUp: (ms) => lookupSeconds.observe(ms / 1000),
    chunkRead: (events) => void (read += events),
    eventLeft: (event) => {
      left.add(event.status, event.verdict)
      byFormat.add('all', formatOf(event.extraction) ?? 'none')
      for (const { decision, verdict } of event.judged) indicators.add(decision.decision, verdict.reason ?? 'none')
    },
    chunkLeft: (ms) => lineSeconds.observe(ms / 1000),
    waited: (ms) => void (waitedMs += ms),
    read: () => ({
      read,
      delivered,
      refreshes,
      lateAlerts,
      ...(hasFolder && { isMemoryKept: unwritten.size === 0 }),
      waitedMs,
      left: left.read().map(([status, verdict, value]) => ({ labels: { status, verdict }, value })),
      byFormat: byFormat.read().map(([, format, value]) => ({ labels: { format }, value })),
      indicators: indicators.read().map(([decision, reason, value]) => ({ labels: { decision, reason }, value })),
      deadlineMisses: decisions.reduce((sum, decision) => sum + indicators.get(decision, 'deadline'), 0),
      recalls: Object.fromEntries(recallKinds.map((kind) => [kind, recalls.get('all', kind)])) as Counts['recalls'],
      calls: calls.read().map(([operation, code, value]) => ({ labels: { operation, code }, value })),
      answers: answers.read().map(([operation, status, value]) => ({ labels: { operation, status }, value })),
      reduced: reduced.read().map(([, to, value]) => ({ labels: { to }, value })),
      deadLetters: deadLetters.read().map(([, reason, value]) => ({ labels: { reason }, value })),
      alerts: alerts.read().map(([, level, value]) => ({ labels: { level }, value })),
      notices: notices.read().map(([, event, value]) => ({ labels: { event }, value })),
      lineSeconds: lineSeconds.read(),
      lookupSeconds: lookupSeconds.read(),
      callSeconds: callSeconds.read(),
      answerSeconds: answerSeconds.read(),
      endToEndSeconds: endToEndSeconds.read(),
    }),
  }
}

/** A record's time is its producer's word. */
const isSane = (ms: number | undefined): ms is number => ms !== undefined && ms > -60_000 && ms < 31 * 86_400_000

const orOther = (list: readonly string[], text: string): string => (list.includes(text) ? text : 'other')
