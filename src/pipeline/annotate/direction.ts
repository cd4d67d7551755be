// The direction of an event, by private and own address ranges.
import { readAddress } from '../../domain/address.js'
import type { RangeSet } from '../../domain/range-set.js'
import type { Direction, Flow, Role, Side, Sighting } from '../../domain/sighting.js'
import { isInside } from '../../domain/special-ranges.js'

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

/**
 * The direction in which the connection began, by the first address in each of the two roles. Between two public addresses the event's
 * own statement about one end counts; two public ends are never internal, so that no malicious address passes for one of ours.
 */
export const directionOf = (indicators: readonly Sided[], flow?: Flow): Direction => {
  let from: Side | undefined
  let to: Side | undefined
  for (const { role, side } of indicators)
    if (role === 'source') from ??= side
    else if (role === 'destination') to ??= side
  // A request came in even if the event has no address of the server.
  if (to === undefined && flow?.destinationSide !== undefined) to = flow.destinationSide
  if (from === undefined || to === undefined) return 'unknown'
  if (flow === undefined) return directions[from][to]
  if (from === 'outside' && to === 'outside' && flow.sourceSide !== flow.destinationSide) {
    from = flow.sourceSide ?? from
    to = flow.destinationSide ?? to
  }
  return flow.isReply ? directions[to][from] : directions[from][to]
}
