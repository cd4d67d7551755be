// Lookups in flight, seen from those who wait for them: each promise is listened to once, however many events hang on it.
import type { Clock } from '../domain/clock.js'
import type { Finding } from '../domain/finding.js'
import { kindOf } from '../domain/reason.js'

export type LookupInFlight = {
  readonly promise: Promise<Finding>
  /** Set when it has landed. */
  finding?: Finding
  readonly waiting: Set<() => void>
}

export type InFlight = {
  readonly of: (promise: Promise<Finding>) => LookupInFlight
  /**
   * Milliseconds without an answer, as far as somebody waited for one: of the time between two looks no more counts than lies
   * between two of a wait. Only an answer ends it; a provider that hangs is not waited for again because its calls timed out.
   */
  readonly quietMs: () => number
  /**
   * True when all have landed, false when `leftMs` said that it has taken long enough. It is asked at the start and at least
   * every 50 ms. Leaves nothing behind at those that have not landed.
   */
  readonly settled: (lookups: readonly LookupInFlight[], leftMs: () => number) => Promise<boolean>
}

/** The first answer of all comes over connections that have yet to be made, from a provider that nobody knows yet. */
const firstMs = 600

/** So soon a wait notices that it is no longer wanted. */
const lookEveryMs = 50

export const createInFlight = (clock: Clock): InFlight => {
  // Reactions of a promise cannot be taken back: one per event would pile up at a lookup that hangs.
  const all = new Map<Promise<Finding>, LookupInFlight>()
  let quiet = -firstMs
  let lookedAt = clock.now()
  return {
    of: (promise) => {
      const known = all.get(promise)
      if (known) return known
      const lookup: LookupInFlight = { promise, waiting: new Set() }
      all.set(promise, lookup)
      const land = (finding: Finding): void => {
        lookup.finding = finding
        all.delete(promise)
        if (isAnswer(finding)) quiet = 0
        for (const landed of lookup.waiting) landed()
        lookup.waiting.clear()
      }
      promise.then(land, () => land({ status: 'unknown', reason: 'bad_answer' }))
      return lookup
    },
    quietMs: () => {
      const now = clock.now()
      quiet += Math.min(now - lookedAt, lookEveryMs)
      lookedAt = now
      return quiet
    },
    settled: (lookups, leftMs) =>
      new Promise((resolve) => {
        let missing = 0
        let cancel: (() => void) | undefined
        const finish = (isAll: boolean): void => {
          cancel?.()
          for (const lookup of lookups) lookup.waiting.delete(landed)
          resolve(isAll)
        }
        const landed = (): void => {
          if (--missing === 0) finish(true)
        }
        const look = (): void => {
          const ms = leftMs()
          if (ms > 0) cancel = clock.after(Math.min(ms, lookEveryMs), look)
          else finish(false)
        }
        for (const lookup of lookups) {
          if (lookup.finding) continue
          missing++
          lookup.waiting.add(landed)
        }
        if (missing === 0) finish(true)
        else look()
      }),
  }
}

const isAnswer = (finding: Finding): boolean => finding.status === 'known' || kindOf(finding.reason) === 'answer'
