// The direction of an event, by private and own address ranges.
import { readAddress } from '../../domain/address.js'
import type { RangeSet } from '../../domain/range-set.js'
import type { Direction, Role, Sighting } from '../../domain/sighting.js'
import { isInside } from '../../domain/special-ranges.js'

type Side = 'inside' | 'outside'

/** An indicator's role and, for addresses, its side of the network. */
export type Sided = { readonly role: Role; readonly side: Side | undefined }

/**
 * Only endpoint addresses have a side. Multicast, broadcast and unspecified addresses count as inside, since they never cross a
 * router.
 */
export const sideOf = ({ type, role, value }: Sighting, ownRanges: RangeSet): Side | undefined => {
  if (type !== 'ip' || (role !== 'source' && role !== 'destination')) return undefined
  const address = readAddress(value)
  if (address === undefined) return undefined
  return isInside(address) || ownRanges.has(address) ? 'inside' : 'outside'
}

const directions: Readonly<Record<Side, Readonly<Record<Side, Direction>>>> = {
  inside: { inside: 'internal', outside: 'outbound' },
  outside: { inside: 'inbound', outside: 'external' },
}

/** Uses the first address in each of the two roles. */
export const directionOf = (indicators: readonly Sided[]): Direction => {
  let from: Side | undefined
  let to: Side | undefined
  for (const { role, side } of indicators)
    if (role === 'source') from ??= side
    else if (role === 'destination') to ??= side
  return from === undefined || to === undefined ? 'unknown' : directions[from][to]
}
