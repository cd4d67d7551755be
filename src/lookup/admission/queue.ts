// The queue: a bounded number of lookups in the order of what matters; when it is full the least important one is dropped.
import type { Ask } from '../../domain/lookup.js'

/** What of an ask decides its place. */
export type Priority = Pick<Ask, 'role' | 'action' | 'urgency'>

type QueuedLookup<Task> = {
  readonly key: string
  readonly task: Task
  class: number
  asked: number
  /** Class and how often asked for, as one number. */
  rank: number
  /** Counts up with every arrival. */
  ticket: number
}

type Queue<Task> = {
  readonly hasPlaceFor: (priority: Priority) => boolean
  /** The less important lookup that was dropped for this one, if the queue was full. */
  readonly add: (key: string, priority: Priority, task: Task) => QueuedLookup<Task> | undefined
  /** So many more ask for the same: it may move up, never down. The work is the same for any number. */
  readonly askedAgain: (key: string, priority: Priority, times?: number) => void
  readonly next: () => QueuedLookup<Task> | undefined
  /** How many go before the one with this key at the latest; undefined when none with it is queued. */
  readonly ahead: (key: string) => number | undefined
  /** How many go before one that is added now, for each class of priority. */
  readonly aheadOfNew: () => readonly number[]
  readonly size: () => number
}

/** Steps of `asked`, by doubling: a lookup asked for 2^15 times ranks as high as one asked for more often. */
const steps = 16
export const mostAsked = 2 ** (steps - 1)

/**
 * Classes first (live before replay, destinations and queries before sources, allowed before blocked), then what was asked for most. Class goes
 * before count because a flood from outside can raise the count of its own sources, but not the class.
 */
export const classOf = ({ role, action, urgency }: Priority): number => {
  const live = urgency === 'replay' ? 0 : 1
  const wanted = role === 'source' || role === 'observer' || role === 'translated' ? 0 : 1
  const passed = action === 'allowed' ? 2 : action === 'unknown' ? 1 : 0
  return (live * 2 + wanted) * 3 + passed
}
export const priorityClasses = 12
const ranks = priorityClasses * steps

export const createQueue = <Task>(maxWaiting: number): Queue<Task> => {
  const queued = new Map<string, QueuedLookup<Task>>()
  // A set keeps the order of arrival, so lookups of one rank go first come, first served.
  const byRank: Set<QueuedLookup<Task>>[] = Array.from({ length: ranks }, () => new Set<QueuedLookup<Task>>())
  let size = 0
  let tickets = 0

  const place = (lookup: QueuedLookup<Task>): void => {
    lookup.ticket = tickets++
    byRank[lookup.rank]?.add(lookup)
  }

  const remove = (lookup: QueuedLookup<Task>): QueuedLookup<Task> => {
    byRank[lookup.rank]?.delete(lookup)
    if (queued.get(lookup.key) === lookup) queued.delete(lookup.key)
    size--
    return lookup
  }
  const firstOf = (peers: Set<QueuedLookup<Task>> | undefined): QueuedLookup<Task> | undefined =>
    peers?.values().next().value
  const lowest = (): QueuedLookup<Task> | undefined => firstOf(byRank.find((peers) => peers.size > 0))

  return {
    hasPlaceFor: (priority) => size < maxWaiting || (lowest()?.rank ?? ranks) < classOf(priority) * steps,
    add: (key, priority, task) => {
      const rankClass = classOf(priority)
      const lookup: QueuedLookup<Task> = { key, task, class: rankClass, asked: 1, rank: rankClass * steps, ticket: 0 }
      const least = size < maxWaiting ? undefined : lowest()
      const dropped = least && remove(least)
      place(lookup)
      queued.set(key, lookup)
      size++
      return dropped
    },
    askedAgain: (key, priority, times = 1) => {
      const lookup = queued.get(key)
      if (!lookup) return
      lookup.asked = Math.min(mostAsked, lookup.asked + times)
      lookup.class = Math.max(lookup.class, classOf(priority))
      const rank = lookup.class * steps + 31 - Math.clz32(lookup.asked)
      if (rank === lookup.rank) return
      byRank[lookup.rank]?.delete(lookup)
      lookup.rank = rank
      place(lookup)
    },
    next: () => {
      if (size === 0) return undefined
      const best = firstOf(byRank.findLast((peers) => peers.size > 0))
      return best && remove(best)
    },
    ahead: (key) => {
      const lookup = queued.get(key)
      if (!lookup) return undefined
      const peers = byRank[lookup.rank]
      let before = Math.min((peers?.size ?? 1) - 1, lookup.ticket - (firstOf(peers)?.ticket ?? lookup.ticket))
      for (let rank = lookup.rank + 1; rank < ranks; rank++) before += byRank[rank]?.size ?? 0
      return before
    },
    aheadOfNew: () => {
      const ahead = new Array<number>(priorityClasses).fill(0)
      let before = 0
      for (let rank = ranks - 1; rank >= 0; rank--) {
        before += byRank[rank]?.size ?? 0
        if (rank % steps === 0) ahead[rank / steps] = before
      }
      return ahead
    },
    size: () => size,
  }
}
