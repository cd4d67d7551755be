// Which way an event went, seen from the network whose private and own ranges are known.
import { readAddress } from '../domain/address.js'
import type { RangeSet } from '../domain/range-set.js'
import type { Direction, Role, Sighting } from '../domain/sighting.js'
import { isInside } from '../domain/special-ranges.js'

type Side = 'inside' | 'outside'

/** The side of the first address in this role; names say nothing about sides. */
const sideOf = (sightings: readonly Sighting[], role: Role, ownRanges: RangeSet): Side | undefined => {
  for (const sighting of sightings) {
    if (sighting.type !== 'ip' || sighting.role !== role) continue
    const address = readAddress(sighting.value)
    if (address !== undefined) return isInside(address) || ownRanges.has(address) ? 'inside' : 'outside'
  }
  return undefined
}

const directions: Readonly<Record<Side, Readonly<Record<Side, Direction>>>> = {
  inside: { inside: 'internal', outside: 'outbound' },
  outside: { inside: 'inbound', outside: 'external' },
}

/** Multicast, broadcast and unspecified addresses count as inside: they stand for no host beyond the next router. */
export const directionOf = (sightings: readonly Sighting[], ownRanges: RangeSet): Direction => {
  const from = sideOf(sightings, 'source', ownRanges)
  const to = sideOf(sightings, 'destination', ownRanges)
  return from === undefined || to === undefined ? 'unknown' : directions[from][to]
}
