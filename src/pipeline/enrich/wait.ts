// The wait policies of events: one deadline when live, a share of the time in a backlog, or until answered.
import type { ProviderState } from '../../domain/provider-state.js'
import type { Clock } from '../../base/clock.js'
import type { Finding, Unknown } from '../../domain/finding.js'
import type { Indicator } from '../../domain/indicator.js'
import { isTemporary } from '../../domain/reason.js'
import { createTurns } from './turns.js'
import { createWaitBudget } from './wait-budget.js'

export type Wait = {
  readonly kind: 'live' | 'catch_up' | 'complete'
  /** Whether to wait for the lookup of this indicator. */
  readonly isFor: (asked: Indicator) => boolean
  /** Remaining milliseconds of a wait that started `sinceMs` ago. */
  readonly leftMs: (sinceMs: number) => number
  /** Whether the finding is final; otherwise the lookup is retried. */
  readonly isFinal: (finding: Finding) => boolean
  /** The maximum number of consecutive retries that are all refused. */
  readonly maxRefusals: number
  /** False when the events should stay in the topic. */
  readonly goesOn: () => boolean
  /** The finding for an indicator without an answer. */
  readonly noAnswer: Unknown
  /** Yields to the event loop if lookups need it, because a busy stream would starve its own answers. */
  readonly turn: () => Promise<void> | undefined
  /** The time between `began` and `ended` counts as waited. */
  readonly began: () => void
  readonly ended: () => void
}

type WaitOptions = {
  readonly clock: Clock
  readonly deadlineMs: number
  /** The share of time that a backlog may wait, 0 to 1. */
  readonly catchUpShare: number
  /** The estimated time of an answer; live events do not wait for one beyond the deadline. */
  readonly estimateMs?: ((asked: Indicator) => number | undefined) | undefined
  /** Absent without a provider. */
  readonly provider?: (() => Provider) | undefined
  /** Milliseconds without an answer. */
  readonly quietMs: () => number
  /** Idle time of the process; without it all time in a wait counts. */
  readonly idleMs?: (() => number) | undefined
  /** Called with the idle time spent in waits. */
  readonly waited?: ((ms: number) => void) | undefined
}

type Provider = Pick<ProviderState, 'waiting' | 'inFlight' | 'latencyMs' | 'state'>

export type Waits = {
  readonly live: Wait
  /** For events delivered before: uses current findings. */
  readonly none: Wait
  /** For a partition with a backlog. */
  readonly catchUp: (goesOn: () => boolean) => Wait
  /** For a file: every failure except a full queue is accepted as an answer. */
  readonly complete: Wait
  /** For a topic in mode `complete`: also waits through provider outages. */
  readonly throughOutages: (goesOn: () => boolean) => Wait
}

/** The event did not wait: the answer could not arrive in time, or the wait budget is spent. */
export const pending: Unknown = { status: 'unknown', reason: 'pending' }
/** The answer did not arrive before the deadline. */
const deadline: Unknown = { status: 'unknown', reason: 'deadline' }

/** A higher latency comes from time-outs rather than answers, so it does not prolong waits. */
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
    noAnswer: deadline,
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
    noAnswer: pending,
  })
  const throughOutages = (goesOn: () => boolean): Wait => ({
    ...live,
    kind: 'complete',
    isFor: always,
    leftMs: () => (goesOn() ? Infinity : 0),
    isFinal: (finding) => finding.status === 'known' || !isTemporary(finding.reason),
    maxRefusals: Infinity,
    goesOn,
    noAnswer: pending,
  })
  const complete: Wait = {
    ...throughOutages(always),
    isFinal: (finding) => finding.status === 'known' || finding.reason !== 'queue_full',
    maxRefusals: 600,
  }
  const none: Wait = { ...live, isFor: () => false, leftMs: () => 0 }
  return { live, none, catchUp, complete, throughOutages }
}
