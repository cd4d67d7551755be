// A call that failed for a passing reason is made again, a few times, each time after a longer wait.
import type { Clock } from '../base/clock.js'
import type { Unknown } from '../domain/finding.js'
import type { Call, Source } from '../domain/lookup.js'
import type { Reason } from '../domain/reason.js'

export type RetrySettings = {
  /** Further attempts after the first. */
  readonly times: number
  /** The wait before the second attempt; it doubles from there. */
  readonly firstMs: number
  /** A failure that asks to stay away longer than this is final. */
  readonly maxMs: number
}

/** Two more attempts within a second or so outlast a dropped connection; an outage is for the circuit breaker. */
export const retryLimits: RetrySettings = { times: 2, firstMs: 250, maxMs: 5_000 }

/** What may be different a moment later. A budget, a key or a question does not change by asking again. */
const passing: ReadonlySet<Reason> = new Set<Reason>(['unavailable', 'timeout', 'busy', 'throttled'])

/**
 * Wraps the source and not the lookup, because a source may need several calls for one finding: only the one that failed is made
 * again, never one that was already paid for. Every attempt is admitted and charged like any other call.
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
