// The queue: a bounded number of lookups, in turns between those who ask and in the order of what matters for each; when it is full, who has most waiting gives way.
import type { Ask } from '../../domain/lookup.js'
import { createLane, type Lane } from './lane.js'

/** What of an ask decides its place. */
export type Priority = Pick<Ask, 'role' | 'action' | 'urgency' | 'asker'>

/** Where a lookup waits for one of its askers. */
type Place<Task> = {
  readonly lookup: QueuedLookup<Task>
  readonly asker: string
  class: number
  asked: number
  /** Class and how often asked for, as one number. */
  rank: number
  /** Counts up with every arrival. */
  ticket: number
}

type QueuedLookup<Task> = { readonly key: string; readonly task: Task; places: readonly Place<Task>[] }

/** The lanes of all who have something waiting, whose turn is next first. */
type Ring<Task> = Map<string, Lane<Place<Task>>>

type Queue<Task> = {
  readonly hasPlaceFor: (priority: Priority) => boolean
  /** The lookup that was dropped for this one, if the queue was full. */
  readonly add: (key: string, priority: Priority, task: Task) => QueuedLookup<Task> | undefined
  /** So many more ask for the same: it may move up, never down. The work is the same for any number. */
  readonly askedAgain: (key: string, priority: Priority, times?: number) => void
  readonly next: () => QueuedLookup<Task> | undefined
  /** How many go before the one with this key at the latest; undefined when none with it is queued. */
  readonly ahead: (key: string) => number | undefined
  /** How many go before one that this asker adds now, for each class of priority. */
  readonly aheadOfNew: (asker?: string) => readonly number[]
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
const liveClasses = priorityClasses / 2
const ranks = priorityClasses * steps
const rankOf = (rankClass: number, asked: number): number => rankClass * steps + 31 - Math.clz32(asked)

export const createQueue = <Task>(maxWaiting: number): Queue<Task> => {
  const queued = new Map<string, QueuedLookup<Task>>()
  // An asker can claim any role and action, so these decide about its own lookups alone.
  const live: Ring<Task> = new Map()
  const replay: Ring<Task> = new Map()
  /** How many places each asker has. */
  const held = new Map<string, number>()
  let tickets = 0

  const ringOf = (rankClass: number): Ring<Task> => (rankClass >= liveClasses ? live : replay)
  const hold = (asker: string, more: number): void => {
    const places = (held.get(asker) ?? 0) + more
    if (places === 0) held.delete(asker)
    else held.set(asker, places)
  }
  const enter = (place: Place<Task>): void => {
    const ring = ringOf(place.class)
    const lane = ring.get(place.asker) ?? createLane<Place<Task>>(ranks)
    ring.set(place.asker, lane)
    place.ticket = tickets++
    lane.add(place)
    hold(place.asker, 1)
  }
  const leave = (place: Place<Task>): void => {
    const ring = ringOf(place.class)
    const lane = ring.get(place.asker)
    lane?.remove(place)
    if (lane?.size() === 0) ring.delete(place.asker)
    hold(place.asker, -1)
  }
  const placeFor = (lookup: QueuedLookup<Task>, priority: Priority, asked: number): void => {
    const rankClass = classOf(priority)
    const { asker = '' } = priority
    const place: Place<Task> = { lookup, asker, class: rankClass, asked, rank: rankOf(rankClass, asked), ticket: 0 }
    lookup.places = [...lookup.places, place]
    enter(place)
  }
  let size = 0
  const remove = (lookup: QueuedLookup<Task>): QueuedLookup<Task> => {
    for (const place of lookup.places) leave(place)
    if (queued.get(lookup.key) === lookup) queued.delete(lookup.key)
    size--
    return lookup
  }

  const mostHeld = (): readonly [asker: string, places: number] => {
    let most: readonly [string, number] = ['', 0]
    for (const each of held) if (each[1] > most[1]) most = each
    return most
  }
  const leastOf = (asker: string): Place<Task> | undefined => (replay.get(asker) ?? live.get(asker))?.least()
  /** Whoever has most waiting gives way to another asker, and to itself for what matters more. */
  const leastFor = (priority: Priority): QueuedLookup<Task> | undefined => {
    const { asker = '' } = priority
    for (;;) {
      const [most, places] = mostHeld()
      const isOther = most !== asker && (held.get(asker) ?? 0) + 1 < places
      const place = leastOf(isOther ? most : asker)
      if (!place || (!isOther && place.rank >= classOf(priority) * steps)) return undefined
      if (place.lookup.places.length === 1) return place.lookup
      // The others who ask for it keep it.
      leave(place)
      place.lookup.places = place.lookup.places.filter((each) => each !== place)
    }
  }

  /** Each of the others has as many turns as this asker before it is this one's turn. */
  const aheadOf = (ring: Ring<Task>, asker: string, own: number): number => {
    let ahead = own
    for (const [other, lane] of ring) if (other !== asker) ahead += Math.min(lane.size(), own + 1)
    if (ring === replay) for (const lane of live.values()) ahead += lane.size()
    return ahead
  }

  return {
    hasPlaceFor: (priority) => size < maxWaiting || leastFor(priority) !== undefined,
    add: (key, priority, task) => {
      const least = size < maxWaiting ? undefined : leastFor(priority)
      const dropped = least && remove(least)
      const lookup: QueuedLookup<Task> = { key, task, places: [] }
      placeFor(lookup, priority, 1)
      queued.set(key, lookup)
      size++
      return dropped
    },
    askedAgain: (key, priority, times = 1) => {
      const lookup = queued.get(key)
      if (!lookup) return
      const { asker = '' } = priority
      const place = lookup.places.find((each) => each.asker === asker)
      if (!place) {
        placeFor(lookup, priority, Math.min(mostAsked, times))
        return
      }
      place.asked = Math.min(mostAsked, place.asked + times)
      const rankClass = Math.max(place.class, classOf(priority))
      const rank = rankOf(rankClass, place.asked)
      if (rank === place.rank) return
      leave(place)
      place.class = rankClass
      place.rank = rank
      enter(place)
    },
    next: () => {
      const ring = live.size > 0 ? live : replay
      const first = ring.entries().next().value
      if (!first) return undefined
      const [asker, lane] = first
      const best = lane.best()
      const lookup = best && remove(best.lookup)
      if (ring.delete(asker)) ring.set(asker, lane)
      return lookup
    },
    ahead: (key) => {
      const lookup = queued.get(key)
      if (!lookup) return undefined
      const ahead = lookup.places.map((place) => {
        const ring = ringOf(place.class)
        return aheadOf(ring, place.asker, ring.get(place.asker)?.ahead(place) ?? 0)
      })
      return Math.min(...ahead)
    },
    aheadOfNew: (asker = '') =>
      Array.from({ length: priorityClasses }, (_, rankClass) => {
        const ring = ringOf(rankClass)
        return aheadOf(ring, asker, ring.get(asker)?.from(rankClass * steps) ?? 0)
      }),
    size: () => size,
  }
}
