// Tracks lookups in flight with one listener per promise, shared by all waiting events.
import type { Clock } from '../../base/clock.js'
import type { Finding } from '../../domain/finding.js'
import { kindOf } from '../../domain/reason.js'

export type LookupInFlight = {
  readonly promise: Promise<Finding>
  /** Set when it has arrived. */
  finding?: Finding
  readonly waiting: Set<() => void>
}

export type InFlight = {
  readonly of: (promise: Promise<Finding>) => LookupInFlight
  /**
   * Milliseconds of waiting without any answer. Gaps longer than the poll interval do not count, because no event
   * waited or the process was blocked. Only an answer resets it; time-outs of a hanging provider do not
   * start a new wait.
   */
  readonly quietMs: () => number
  /**
   * True when all have arrived, false when `leftMs` returns 0 or less. `leftMs` is called at the start and at least every 50 ms.
   * Leaves no listeners behind.
   */
  readonly settled: (lookups: readonly LookupInFlight[], leftMs: () => number) => Promise<boolean>
}

/** Extra time for the very first answer, which needs new connections. */
const firstMs = 600

/** Polling interval of a wait. */
const pollMs = 50

export const createInFlight = (clock: Clock): InFlight => {
  // Promise reactions cannot be removed, so one per event would accumulate at a hanging lookup.
  const all = new Map<Promise<Finding>, LookupInFlight>()
  let quiet = -firstMs
  let polledAt = clock.now()
  return {
    of: (promise) => {
      const known = all.get(promise)
      if (known) return known
      const lookup: LookupInFlight = { promise, waiting: new Set() }
      all.set(promise, lookup)
      const arrive = (finding: Finding): void => {
        lookup.finding = finding
        all.delete(promise)
        if (isAnswer(finding)) quiet = 0
        for (const notify of lookup.waiting) notify()
        lookup.waiting.clear()
      }
      promise.then(arrive, () => arrive({ status: 'unknown', reason: 'bad_answer' }))
      return lookup
    },
    quietMs: () => {
      const now = clock.now()
      const sinceMs = now - polledAt
      if (sinceMs <= 2 * pollMs) quiet += sinceMs
      polledAt = now
      return quiet
    },
    settled: (lookups, leftMs) =>
      new Promise((resolve) => {
        let missing = 0
        let cancel: (() => void) | undefined
        const finish = (isAll: boolean): void => {
          cancel?.()
          for (const lookup of lookups) lookup.waiting.delete(arrived)
          resolve(isAll)
        }
        const arrived = (): void => {
          if (--missing === 0) finish(true)
        }
        const poll = (): void => {
          const ms = leftMs()
          if (ms > 0) cancel = clock.after(Math.min(ms, pollMs), poll)
          else finish(false)
        }
        for (const lookup of lookups) {
          if (lookup.finding) continue
          missing++
          lookup.waiting.add(arrived)
        }
        if (missing === 0) finish(true)
        else poll()
      }),
  }
}

const isAnswer = (finding: Finding): boolean => finding.status === 'known' || kindOf(finding.reason) === 'answer'
