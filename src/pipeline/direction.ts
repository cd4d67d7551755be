// Which way an event went, seen from the network whose private and own ranges are known.
import { readAddress } from '../domain/address.js'
import type { RangeSet } from '../domain/range-set.js'
import type { Direction, Role, Sighting } from '../domain/sighting.js'
import { isInside } from '../domain/special-ranges.js'

export type Side = 'inside' | 'outside'

/** Whatever stands for the sighting in many events remembers its side. */
export type Sided = { side?: Side | undefined }

/** The side of the first address in this role; names say nothing about sides. */
const sideOf = (
  sightings: readonly Sighting[],
  role: Role,
  ownRanges: RangeSet,
  rows: readonly Sided[] | undefined,
): Side | undefined => {
  for (let place = 0; place < sightings.length; place++) {
    const sighting = sightings[place]
    if (sighting?.type !== 'ip' || sighting.role !== role) continue
    const row = rows?.[place]
    const side = row?.side ?? sideOfAddress(sighting.value, ownRanges)
    if (row !== undefined) row.side = side
    if (side !== undefined) return side
  }
  return undefined
}

const sideOfAddress = (value: string, ownRanges: RangeSet): Side | undefined => {
  const address = readAddress(value)
  if (address === undefined) return undefined
  return isInside(address) || ownRanges.has(address) ? 'inside' : 'outside'
}

const directions: Readonly<Record<Side, Readonly<Record<Side, Direction>>>> = {
  inside: { inside: 'internal', outside: 'outbound' },
  outside: { inside: 'inbound', outside: 'external' },
}

/**
 * Multicast, broadcast and unspecified addresses count as inside: they stand for no host beyond the next router.
 * `rows`, where there are any, are one for each sighting, in the same order.
 */
export const directionOf = (
  sightings: readonly Sighting[],
  ownRanges: RangeSet,
  rows?: readonly Sided[],
): Direction => {
  const from = sideOf(sightings, 'source', ownRanges, rows)
  const to = sideOf(sightings, 'destination', ownRanges, rows)
  return from === undefined || to === undefined ? 'unknown' : directions[from][to]
}
