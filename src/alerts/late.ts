// Tracks delivered events that wait for a late answer, within limits.
import type { Judged } from '../domain/judged.js'
import type { Finding } from '../domain/finding.js'

/** An event that was delivered before all its answers arrived. */
export type Waiter = {
  rows: readonly Judged[]
  readonly origin: string
  /** Rules that already matched. */
  readonly fired: Set<string>
  /** Its approximate size. */
  readonly bytes: number
}

export type LateLimits = {
  readonly maxIndicators: number
  readonly maxOrigins: number
  readonly maxBytes: number
}

export const lateLimits: LateLimits = { maxIndicators: 10_000, maxOrigins: 16, maxBytes: 32 * 1024 * 1024 }

export type Late<W extends Waiter> = {
  /** `make` is called at most once. Returns false if a limit is reached. */
  readonly wait: (promises: ReadonlySet<Promise<Finding>>, make: () => W) => boolean
  readonly size: () => number
  /** Resolves when no event waits any more. */
  readonly idle: () => Promise<void>
  readonly close: () => void
}

type Group<W> = { readonly waiters: W[]; more: number }

/** `arrived` is called with the events that waited for one answer, and the number that were not tracked. */
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
    const arrive = (finding: Finding): void => {
      if (!groups.delete(promise)) return
      for (const waiter of group.waiters) bytes -= waiter.bytes
      arrived(finding, promise, group.waiters, group.more)
    }
    promise.then(arrive, () => arrive({ status: 'unknown', reason: 'bad_answer' }))
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
