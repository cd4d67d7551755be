// The waiting room: a bounded number of lookups in the order of what matters; when it is full the least important one goes.
import type { Ask } from '../../domain/lookup.js'

/** What of an ask decides its place. */
export type Priority = Pick<Ask, 'role' | 'action' | 'urgency'>

export type Guest<Work> = {
  readonly key: string
  readonly work: Work
  class: number
  asked: number
  /** Class and how often asked for, as one number. */
  rank: number
  /** Later guests have higher ones. */
  ticket: number
}

export type WaitingRoom<Work> = {
  readonly hasPlaceFor: (priority: Priority) => boolean
  /** The guest of less importance who had to leave for the newcomer, if the room was full. */
  readonly enter: (key: string, priority: Priority, work: Work) => Guest<Work> | undefined
  /** Somebody else asks for the same: it may move up, never down. */
  readonly askedAgain: (key: string, priority: Priority) => void
  readonly next: () => Guest<Work> | undefined
  /** How many are served before the one with this key at the latest; undefined when nobody with it waits. */
  readonly ahead: (key: string) => number | undefined
  readonly size: () => number
}

/** Steps of `asked`, by doubling: a guest asked for 2^15 times stands as high as one asked for more often. */
const steps = 16

/**
 * Classes first (live before replay, destinations and queries before sources, allowed before blocked), then who was asked for most. Class goes
 * before count because a flood from outside can raise the count of its own sources, but not the class.
 */
const classOf = ({ role, action, urgency }: Priority): number => {
  const live = urgency === 'replay' ? 0 : 1
  const wanted = role === 'source' || role === 'observer' || role === 'translated' ? 0 : 1
  const passed = action === 'allowed' ? 2 : action === 'unknown' ? 1 : 0
  return (live * 2 + wanted) * 3 + passed
}
const ranks = 12 * steps

export const createWaitingRoom = <Work>(maxWaiting: number): WaitingRoom<Work> => {
  const guests = new Map<string, Guest<Work>>()
  // A set keeps the order of arrival, so guests of one rank are served first come, first served.
  const rows: Set<Guest<Work>>[] = Array.from({ length: ranks }, () => new Set<Guest<Work>>())
  let size = 0
  let tickets = 0

  const add = (guest: Guest<Work>): void => {
    guest.ticket = tickets++
    rows[guest.rank]?.add(guest)
  }

  const remove = (guest: Guest<Work>): Guest<Work> => {
    rows[guest.rank]?.delete(guest)
    if (guests.get(guest.key) === guest) guests.delete(guest.key)
    size--
    return guest
  }
  const firstOf = (row: Set<Guest<Work>> | undefined): Guest<Work> | undefined => row?.values().next().value
  const lowest = (): Guest<Work> | undefined => firstOf(rows.find((row) => row.size > 0))

  return {
    hasPlaceFor: (priority) => size < maxWaiting || (lowest()?.rank ?? ranks) < classOf(priority) * steps,
    enter: (key, priority, work) => {
      const place = classOf(priority)
      const guest: Guest<Work> = { key, work, class: place, asked: 1, rank: place * steps, ticket: 0 }
      const least = size < maxWaiting ? undefined : lowest()
      const left = least && remove(least)
      add(guest)
      guests.set(key, guest)
      size++
      return left
    },
    askedAgain: (key, priority) => {
      const guest = guests.get(key)
      if (!guest) return
      guest.asked++
      guest.class = Math.max(guest.class, classOf(priority))
      const rank = guest.class * steps + Math.min(steps - 1, 31 - Math.clz32(guest.asked))
      if (rank === guest.rank) return
      rows[guest.rank]?.delete(guest)
      guest.rank = rank
      add(guest)
    },
    next: () => {
      if (size === 0) return undefined
      const best = firstOf(rows.findLast((row) => row.size > 0))
      return best && remove(best)
    },
    ahead: (key) => {
      const guest = guests.get(key)
      if (!guest) return undefined
      const row = rows[guest.rank]
      let before = Math.min((row?.size ?? 1) - 1, guest.ticket - (firstOf(row)?.ticket ?? guest.ticket))
      for (let rank = guest.rank + 1; rank < ranks; rank++) before += rows[rank]?.size ?? 0
      return before
    },
    size: () => size,
  }
}
