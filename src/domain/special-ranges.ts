// Special-purpose address ranges of the IANA registries, including multicast and reserved space.
import { parseRange, type Address } from './address.js'
import { createRangeSet, type RangeSet } from './range-set.js'

/**
 * private: used within a network or a host. local: never routed as the address of one host (this host,
 * broadcast, multicast). special: other addresses without a reputation: documentation, benchmarks,
 * protocol assignments, and translation prefixes, whose inner IPv4 address may be hidden or forged.
 */
type Kind = 'private' | 'local' | 'special'

type SpecialRange = { readonly range: string; readonly kind: Kind; readonly name: string }

/**
 * https://www.iana.org/assignments/iana-ipv4-special-registry and .../iana-ipv6-special-registry. The registries mark some
 * entries as globally reachable: the anycast addresses in 192.0.0.0/24 and 2001::/23, AS112 and AMT, NAT64, ORCHIDv2 and
 * drone ids. They are protocol endpoints without an owner, so they stay special here.
 */
export const specialRanges: readonly SpecialRange[] = [
  { range: '0.0.0.0/8', kind: 'local', name: 'this network' },
  { range: '10.0.0.0/8', kind: 'private', name: 'private use' },
  { range: '100.64.0.0/10', kind: 'private', name: 'shared address space of carriers (CGNAT)' },
  { range: '127.0.0.0/8', kind: 'private', name: 'loopback' },
  { range: '169.254.0.0/16', kind: 'private', name: 'link local' },
  { range: '172.16.0.0/12', kind: 'private', name: 'private use' },
  { range: '192.0.0.0/24', kind: 'special', name: 'IETF protocol assignments' },
  { range: '192.0.2.0/24', kind: 'special', name: 'documentation (TEST-NET-1)' },
  { range: '192.31.196.0/24', kind: 'special', name: 'AS112-v4' },
  { range: '192.52.193.0/24', kind: 'special', name: 'AMT' },
  { range: '192.88.99.0/24', kind: 'special', name: '6to4 relay anycast, deprecated' },
  { range: '192.168.0.0/16', kind: 'private', name: 'private use' },
  { range: '192.175.48.0/24', kind: 'special', name: 'direct delegation AS112 service' },
  { range: '198.18.0.0/15', kind: 'special', name: 'benchmarking' },
  { range: '198.51.100.0/24', kind: 'special', name: 'documentation (TEST-NET-2)' },
  { range: '203.0.113.0/24', kind: 'special', name: 'documentation (TEST-NET-3)' },
  { range: '224.0.0.0/4', kind: 'local', name: 'multicast' },
  { range: '240.0.0.0/4', kind: 'special', name: 'reserved' },
  { range: '255.255.255.255/32', kind: 'local', name: 'limited broadcast' },

  { range: '::/128', kind: 'local', name: 'unspecified address' },
  { range: '::1/128', kind: 'private', name: 'loopback' },
  {
    range: '::/3',
    kind: 'special',
    name: 'outside global unicast: IPv4-compatible, IPv4-translated, NAT64, discard-only',
  },
  { range: '64:ff9b::/96', kind: 'special', name: 'NAT64' },
  { range: '64:ff9b:1::/48', kind: 'special', name: 'NAT64 of local use' },
  { range: '100::/64', kind: 'special', name: 'discard only' },
  { range: '100:0:0:1::/64', kind: 'special', name: 'dummy prefix' },
  {
    range: '2001::/23',
    kind: 'special',
    name: 'IETF protocol assignments: Teredo, benchmarking, AMT, AS112, ORCHID, drones',
  },
  { range: '2001:db8::/32', kind: 'special', name: 'documentation' },
  { range: '2002::/16', kind: 'special', name: '6to4' },
  { range: '2620:4f:8000::/48', kind: 'special', name: 'direct delegation AS112 service' },
  { range: '3fff::/20', kind: 'special', name: 'documentation' },
  { range: '4000::/2', kind: 'special', name: 'outside global unicast; 5f00::/16 in it is SRv6' },
  { range: '8000::/1', kind: 'special', name: 'outside global unicast' },
  { range: 'fc00::/7', kind: 'private', name: 'unique local' },
  { range: 'fe80::/10', kind: 'private', name: 'link local' },
  { range: 'fec0::/10', kind: 'private', name: 'site local, deprecated' },
  { range: 'ff00::/8', kind: 'local', name: 'multicast' },
]

/** Ranges for examples in documentation. */
export const isDocumentationRange = ({ name }: SpecialRange): boolean => name.startsWith('documentation')

const setOf = (...kinds: readonly Kind[]): RangeSet => setWhere(({ kind }) => kinds.includes(kind))

const setWhere = (isIn: (range: SpecialRange) => boolean): RangeSet =>
  createRangeSet(
    specialRanges
      .filter(isIn)
      .map(({ range }) => parseRange(range))
      .filter((range) => range !== undefined),
  )

const privateSet = setOf('private')
const anySet = setOf('private', 'local', 'special')
const insideSet = setOf('private', 'local')
const documentationSet = setWhere(isDocumentationRange)

/** The reason why a special address is never looked up. */
export const specialReason = (address: Address): 'private_address' | 'special_address' | undefined => {
  if (!anySet.has(address)) return undefined
  return privateSet.has(address) ? 'private_address' : 'special_address'
}

/** Whether an address is always inside: private, or never routed. */
export const isInside = (address: Address): boolean => insideSet.has(address)

export const isDocumentation = (address: Address): boolean => documentationSet.has(address)
