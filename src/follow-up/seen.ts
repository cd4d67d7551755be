// The sightings of an indicator on one day, and their sum over several days.
import type { Indicator } from '../domain/indicator.js'
import type { SeenTotals } from '../domain/sighting.js'
import { lowestPorts, type DayRow } from './day-table.js'
import { kindsIn } from './kinds.js'
import { trafficIn } from './traffic.js'

/** One day of one indicator in one input partition. */
export type SeenOnDay = Omit<DayRow, 'peers'> & {
  /** Days since 1970. */
  readonly day: number
  /** Inside hosts. */
  readonly peers: readonly string[]
}

export type Seen = SeenTotals & { readonly indicator: Indicator }

export const dayMs = 86_400_000

/** Sums the days of one partition, oldest first; undefined if there are none. */
export const sumOf = (days: readonly SeenOnDay[]): Seen | undefined => {
  const [oldest] = days
  if (!oldest) return undefined
  return {
    indicator: oldest.indicator,
    count: days.reduce((sum, { count }) => sum + count, 0),
    first: Math.min(...days.map(({ day, first }) => day * dayMs + first)),
    last: Math.max(...days.map(({ day, last }) => day * dayMs + last)),
    peers: [...new Set(days.flatMap(({ peers }) => peers))],
    otherSightings: days.reduce((sum, { otherSightings }) => sum + otherSightings, 0),
    offsets: [...new Set(days.flatMap(({ firstOffset, lastOffset }) => [firstOffset, lastOffset]))],
    traffic: trafficIn(days.reduce((bits, { traffic }) => bits | traffic, 0)),
    kinds: kindsIn(days.reduce((bits, { kinds }) => bits | kinds, 0)),
  }
}

/** Merges two counts of the same indicator and day, over different events. */
export const together = (one: SeenOnDay, other: SeenOnDay): SeenOnDay => ({
  ...one,
  count: one.count + other.count,
  first: Math.min(one.first, other.first),
  last: Math.max(one.last, other.last),
  firstOffset: Math.min(one.firstOffset, other.firstOffset),
  lastOffset: Math.max(one.lastOffset, other.lastOffset),
  peers: [...new Set([...one.peers, ...other.peers])],
  otherSightings: one.otherSightings + other.otherSightings,
  unalerted: one.unalerted | other.unalerted,
  pending: one.pending | other.pending,
  traffic: one.traffic | other.traffic,
  kinds: one.kinds | other.kinds,
  ports: lowestPorts([...(one.ports ?? []), ...(other.ports ?? [])]),
})
