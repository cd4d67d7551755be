// The bounded lookup queue: askers take turns, each one's most important lookup goes first, and no peer takes more than its share.
import type { Ask } from '../../domain/lookup.js'
import { createLane, type Lane } from './lane.js'
import { createShares, type PeerNames } from './shares.js'

/** The parts of an ask that decide its place. */
export type Priority = Pick<Ask, 'role' | 'action' | 'urgency' | 'asker' | 'peer' | 'network'>

/** The place of a lookup in the lane of one of its askers. */
type Place<Task> = {
  readonly lookup: QueuedLookup<Task>
  readonly asker: string
  class: number
  asked: number
  /** The peers whose share it takes, and whether that share is used up. */
  peers: PeerNames
  isOver: boolean
  /** Class and number of asks, as one number. */
  rank: number
  /** Increases with every arrival. */
  ticket: number
}

type QueuedLookup<Task> = { readonly key: string; readonly task: Task; places: readonly Place<Task>[] }

/** The lanes of all askers with waiting lookups, in the order of their turns. */
type Ring<Task> = Map<string, Lane<Place<Task>>>

type Queue<Task> = {
  readonly hasPlaceFor: (priority: Priority) => boolean
  /** Returns the lookup that a full queue dropped for this one. */
  readonly add: (key: string, priority: Priority, task: Task) => QueuedLookup<Task> | undefined
  /** Reports `times` more asks for the same key: it may move up, never down. The cost does not depend on `times`. */
  readonly askedAgain: (key: string, priority: Priority, times?: number) => void
  readonly next: () => QueuedLookup<Task> | undefined
  /** Counts a call towards the share of the peer. */
  readonly called: (priority: Priority) => void
  /** The largest number that may go before this key; undefined if it is not queued. */
  readonly ahead: (key: string) => number | undefined
  /** The number that goes before a lookup which this asker adds now, per priority class. */
  readonly aheadOfNew: (asker?: string) => readonly number[]
  readonly size: () => number
}

/** Steps of `asked` in powers of two: beyond 2^15 asks the rank no longer rises. */
const steps = 16
export const mostAsked = 2 ** (steps - 1)

/**
 * Class comes first (live before replay, destinations and queries before sources, allowed before blocked), then the number of asks. A flood
 * from outside can raise the count of its own sources, but not their class.
 */
export const classOf = ({ role, action, urgency }: Priority): number => {
  const live = urgency === 'replay' ? 0 : 1
  const wanted = humble.has(role) ? 0 : 1
  const passed = action === 'allowed' ? 2 : action === 'unknown' ? 1 : 0
  return (live * 2 + wanted) * 3 + passed
}
/** Roles of values that outsiders can vary at will. */
const humble: ReadonlySet<Priority['role']> = new Set(['source', 'observer', 'translated', 'claimed'])
export const priorityClasses = 12
const liveClasses = priorityClasses / 2
const ranks = priorityClasses * steps

/**
 * Within a lane, lookups beyond the share of their peer come after all others except blocked sources: any outsider can cause as many of
 * those as they like, from many addresses.
 */
const firstRank = (rankClass: number, isOver: boolean): number => {
  const ofLane = rankClass % liveClasses
  const slot = isOver ? (ofLane === 0 ? 0 : ofLane + 1) : ofLane === 0 ? 1 : ofLane + liveClasses
  return slot * steps
}
const rankOf = ({
  class: rankClass,
  asked,
  isOver,
}: {
  readonly class: number
  readonly asked: number
  readonly isOver: boolean
}): number => firstRank(rankClass, isOver) + 31 - Math.clz32(asked)

type QueueOptions = { readonly perHour: number; readonly perDay: number; readonly now: () => number }

const noBudget: QueueOptions = { perHour: 0, perDay: 0, now: () => 0 }

export const createQueue = <Task>(maxWaiting: number, options: QueueOptions = noBudget): Queue<Task> => {
  const { now } = options
  const shares = createShares(maxWaiting, options)
  const queued = new Map<string, QueuedLookup<Task>>()
  // An asker can claim any role and action, so these only order its own lookups.
  const live: Ring<Task> = new Map()
  const replay: Ring<Task> = new Map()
  /** The number of places per asker. */
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
    if (!place.isOver) shares.hold(place.peers, 1)
  }
  const leave = (place: Place<Task>): void => {
    const ring = ringOf(place.class)
    const lane = ring.get(place.asker)
    lane?.remove(place)
    if (lane?.size() === 0) ring.delete(place.asker)
    hold(place.asker, -1)
    if (!place.isOver) shares.hold(place.peers, -1)
  }
  const isOver = (peers: PeerNames): boolean => shares.isFull(peers) || shares.isSpent(peers, now())
  const placeFor = (lookup: QueuedLookup<Task>, priority: Priority, asked: number): void => {
    const { asker = '' } = priority
    const peers = peersOf(priority)
    const ranked = { class: classOf(priority), asked, isOver: isOver(peers) }
    const place: Place<Task> = { ...ranked, lookup, asker, peers, rank: rankOf(ranked), ticket: 0 }
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
  const isLess = (place: Place<Task>, priority: Priority): boolean => {
    const rankClass = classOf(priority)
    const isSameRing = ringOf(rankClass) === ringOf(place.class)
    return isSameRing ? place.rank < firstRank(rankClass, isOver(peersOf(priority))) : rankClass > place.class
  }
  /**
   * The asker with the most waiting lookups gives way to other askers; within one asker, a lookup only gives way to a more important one.
   */
  const leastFor = (priority: Priority): QueuedLookup<Task> | undefined => {
    const { asker = '' } = priority
    for (;;) {
      const [most, places] = mostHeld()
      const isOther = most !== asker && (held.get(asker) ?? 0) + 1 < places
      const place = leastOf(isOther ? most : asker)
      if (!place || (!isOther && !isLess(place, priority))) return undefined
      if (place.lookup.places.length === 1) return place.lookup
      // The lookup stays queued for its other askers.
      leave(place)
      place.lookup.places = place.lookup.places.filter((each) => each !== place)
    }
  }

  /** Each place is moved back at most once. */
  const bestOf = (lane: Lane<Place<Task>>): Place<Task> | undefined => {
    for (let best = lane.best(); best; best = lane.best()) {
      if (best.isOver || lane.size() === 1 || !shares.isSpent(best.peers, now())) return best
      leave(best)
      best.isOver = true
      best.rank = rankOf(best)
      enter(best)
    }
    return undefined
  }
  /** Before its turn, every other asker has as many turns as this one. */
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
      const peers = peersOf(priority)
      // The lookup takes the share of the other peer that asks for it.
      const isTaken = place.isOver && !isOver(peers)
      const rank = rankOf({ class: rankClass, asked: place.asked, isOver: place.isOver && !isTaken })
      if (rank === place.rank && rankClass === place.class) return
      leave(place)
      place.class = rankClass
      place.rank = rank
      if (isTaken) Object.assign(place, { peers, isOver: false })
      enter(place)
    },
    called: (priority) => shares.called(peersOf(priority), now()),
    next: () => {
      const ring = live.size > 0 ? live : replay
      const first = ring.entries().next().value
      if (!first) return undefined
      const [asker, lane] = first
      const best = bestOf(lane)
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
        return aheadOf(ring, asker, ring.get(asker)?.from(firstRank(rankClass, false)) ?? 0)
      }),
    size: () => size,
  }
}

/** Peers are counted per asker, because an asker can name any peer. */
const peersOf = ({ asker = '', peer, network }: Priority): PeerNames => {
  if (peer === undefined) return noPeers
  return network === undefined ? [`${asker} ${peer}`] : [`${asker} ${peer}`, `${asker} ${network}`]
}
const noPeers: PeerNames = []
