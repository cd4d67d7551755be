// Who waits for a late answer: events that left without it are remembered, bounded, until it comes and says whether they matter.
import type { Judged } from '../domain/judged.js'
import type { Finding } from '../domain/finding.js'

/** One event that left while some of its indicators were still asked about. */
export type Waiter = {
  rows: readonly Judged[]
  readonly origin: string
  /** Rules that fired already. */
  readonly fired: Set<string>
  /** What is kept of it, roughly. */
  readonly bytes: number
}

export type LateLimits = {
  readonly maxIndicators: number
  readonly maxOrigins: number
  readonly maxBytes: number
}

export const lateLimits: LateLimits = { maxIndicators: 10_000, maxOrigins: 16, maxBytes: 32 * 1024 * 1024 }

export type Late<W extends Waiter> = {
  /** `make` is called at most once, and not at all where nothing more can be kept. False where there was no room to remember it. */
  readonly wait: (promises: ReadonlySet<Promise<Finding>>, make: () => W) => boolean
  readonly size: () => number
  /** Resolves when nobody waits any more. */
  readonly idle: () => Promise<void>
  readonly close: () => void
}

type Group<W> = { readonly waiters: W[]; more: number }

/** `arrived` is called with all that waited for one answer, and how many more there were than were kept. */
export const createLate = <W extends Waiter>(
  arrived: (finding: Finding, promise: Promise<Finding>, waiters: readonly W[], more: number) => void,
  limits: LateLimits = lateLimits,
): Late<W> => {
  const groups = new Map<Promise<Finding>, Group<W>>()
  let bytes = 0

  const groupOf = (promise: Promise<Finding>): Group<W> | undefined => {
    const known = groups.get(promise)
    if (known || groups.size >= limits.maxIndicators) return known
    const group: Group<W> = { waiters: [], more: 0 }
    groups.set(promise, group)
    const land = (finding: Finding): void => {
      if (!groups.delete(promise)) return
      for (const waiter of group.waiters) bytes -= waiter.bytes
      arrived(finding, promise, group.waiters, group.more)
    }
    promise.then(land, () => land({ status: 'unknown', reason: 'bad_answer' }))
    return group
  }

  return {
    wait: (promises, make) => {
      let waiter: W | undefined
      let isKept = true
      for (const promise of promises) {
        const group = groupOf(promise)
        const isFull = bytes >= limits.maxBytes
        if (!group || isFull) isKept = false
        if (!group) continue
        if (isFull || group.waiters.length >= limits.maxOrigins) {
          group.more++
          continue
        }
        waiter ??= make()
        group.waiters.push(waiter)
        bytes += waiter.bytes
      }
      return isKept
    },
    size: () => groups.size,
    idle: async () => {
      while (groups.size > 0) await Promise.allSettled(groups.keys())
    },
    close: () => {
      groups.clear()
      bytes = 0
    },
  }
}
