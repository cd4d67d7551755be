// Retries a call that failed for a transient reason, a few times with exponential backoff.
import type { Clock } from '../base/clock.js'
import type { Unknown } from '../domain/finding.js'
import type { Call, Source } from '../domain/lookup.js'
import type { Reason } from '../domain/reason.js'

export type RetrySettings = {
  /** Further attempts after the first. */
  readonly times: number
  /** The backoff before the second attempt; it doubles from there. */
  readonly firstMs: number
  /** A failure that requires a longer wait is final. */
  readonly maxMs: number
}

/** Two retries within about a second outlast a dropped connection; an outage is left to the circuit breaker. */
export const retryLimits: RetrySettings = { times: 2, firstMs: 250, maxMs: 5_000 }

/** Transient reasons. A problem with the budget, key or question does not go away with a retry. */
const passing: ReadonlySet<Reason> = new Set<Reason>(['unavailable', 'timeout', 'busy', 'throttled'])

/**
 * Wraps the source instead of the lookup, because one finding may need several calls: only the failed call is repeated, never one that was
 * already paid for. Every attempt is admitted and charged like any other call.
 */
export const retry =
  (settings: RetrySettings, clock: Clock, chance: () => number) =>
  <Question>(source: Source<Question>): Source<Question> =>
  (question, ask, call) => {
    const retrying: Call = async (send) => {
      for (let made = 0; ; made++) {
        const answer = await call(send)
        if (!isFailure(answer) || made >= settings.times || !passing.has(answer.reason)) return answer
        const backoffMs = settings.firstMs * 2 ** made * (0.5 + chance() / 2)
        const waitMs = Math.max(backoffMs, answer.retryAfterMs ?? 0)
        if (waitMs > settings.maxMs) return answer
        await new Promise<void>((resolve) => clock.after(waitMs, resolve))
      }
    }
    return source(question, ask, retrying)
  }

const isFailure = (answer: { readonly status: string }): answer is Unknown => answer.status === 'unknown'
