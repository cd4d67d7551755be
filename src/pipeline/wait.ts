// How long events wait for their answers: one deadline at the head of the topic, a share of the time in a backlog, or as long as it takes.
import type { ProviderState } from '../domain/provider-state.js'
import type { Clock } from '../domain/clock.js'
import type { Finding, Unknown } from '../domain/finding.js'
import type { Indicator } from '../domain/indicator.js'
import type { Reason } from '../domain/reason.js'
import { createTurns } from './turns.js'
import { createWaitBudget } from './wait-budget.js'

export type Wait = {
  readonly kind: 'live' | 'catch_up' | 'complete'
  /** Whether the answer about an indicator is worth waiting for. */
  readonly isFor: (asked: Indicator) => boolean
  /** Milliseconds that a wait may still take that began so long ago. */
  readonly leftMs: (sinceMs: number) => number
  /** Whether an event leaves with this; what it does not leave with is asked for again. */
  readonly isFinal: (finding: Finding) => boolean
  /** How often in a row all that is asked for again may be refused. */
  readonly maxRefusals: number
  /** False as soon as the events should be left where they are. */
  readonly goesOn: () => boolean
  /** What is said of an indicator whose answer was waited for in vain. */
  readonly inVain: Unknown
  /** A turn of the event loop for the lookups, where they need one: a stream that never yields starves its own answers. */
  readonly turn: () => Promise<void> | undefined
  /** Counts the time in between as waited. */
  readonly began: () => void
  readonly ended: () => void
}

export type WaitOptions = {
  readonly clock: Clock
  readonly deadlineMs: number
  /** The share of the time that a backlog may wait, 0 to 1. */
  readonly catchUpShare: number
  /** When an answer can be expected; what cannot come within the deadline is not waited for at the head. */
  readonly estimateMs?: ((asked: Indicator) => number | undefined) | undefined
  /** Absent where nobody is asked. */
  readonly provider?: (() => Provider) | undefined
  /** Milliseconds without an answer. */
  readonly quietMs: () => number
  /** Milliseconds that the process has been idle; without it all time in a wait counts as waited. */
  readonly idleMs?: (() => number) | undefined
  /** Told how long the process stood idle in waits. */
  readonly waited?: ((ms: number) => void) | undefined
}

export type Provider = Pick<ProviderState, 'waiting' | 'inFlight' | 'latencyMs' | 'state'>

export type Waits = {
  readonly live: Wait
  /** Of a partition that is behind. */
  readonly catchUp: (goesOn: () => boolean) => Wait
  /** Of a file, which has an end: a failure is an answer, but for a queue that is full. */
  readonly complete: Wait
  /** Of a topic: outages of the provider are waited for, too. */
  readonly throughOutages: (goesOn: () => boolean) => Wait
}

/** The answer is on its way, but was not waited for: it could not have come in time, or the backlog has waited enough. */
export const pending: Unknown = { status: 'unknown', reason: 'pending' }
/** The answer was waited for until the deadline. */
const deadline: Unknown = { status: 'unknown', reason: 'deadline' }

/** What may be over in a moment, or in an hour, without anybody doing anything about the question. */
const passing: ReadonlySet<Reason> = new Set<Reason>([
  'queue_full',
  'busy',
  'throttled',
  'unavailable',
  'timeout',
  'breaker_open',
])

/** A latency above this is that of time-outs rather than of answers: it makes no wait any longer. */
const slowMs = 250

export const createWaits = (options: WaitOptions): Waits => {
  const { clock, deadlineMs, catchUpShare, estimateMs, provider, quietMs, idleMs, waited } = options
  const budget = createWaitBudget(catchUpShare, clock.now, idleMs, waited)
  const { turn } = createTurns(() => {
    const { waiting = 0, inFlight = 0 } = provider?.() ?? {}
    return waiting + inFlight > 0
  })
  const shared = { turn, began: budget.began, ended: budget.ended }
  const always = (): boolean => true

  const live: Wait = {
    ...shared,
    kind: 'live',
    isFor: (asked) => (estimateMs?.(asked) ?? 0) <= deadlineMs,
    leftMs: (sinceMs) => deadlineMs - sinceMs,
    isFinal: always,
    maxRefusals: 0,
    goesOn: always,
    inVain: deadline,
  }
  const catchUp = (goesOn: () => boolean): Wait => ({
    ...live,
    kind: 'catch_up',
    isFor: always,
    leftMs: () => {
      const { state = 'open', latencyMs = 0 } = provider?.() ?? {}
      if (state === 'breaker_open' || !goesOn()) return 0
      return Math.min(budget.leftMs(), Math.max(4 * Math.min(latencyMs, slowMs), 100) - quietMs())
    },
    goesOn,
    inVain: pending,
  })
  const throughOutages = (goesOn: () => boolean): Wait => ({
    ...live,
    kind: 'complete',
    isFor: always,
    leftMs: () => (goesOn() ? Infinity : 0),
    isFinal: (finding) => finding.status === 'known' || !passing.has(finding.reason),
    maxRefusals: Infinity,
    goesOn,
    inVain: pending,
  })
  const complete: Wait = {
    ...throughOutages(always),
    isFinal: (finding) => finding.status === 'known' || finding.reason !== 'queue_full',
    maxRefusals: 600,
  }
  return { live, catchUp, complete, throughOutages }
}
