// Special ranges: what we hold agrees with the IANA registries, entered here by hand, at every boundary.
import { BlockList, isIPv4 } from 'node:net'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatAddress, parseRange, readAddress, type Address } from '../../../src/domain/address.js'
import { isInside, specialReason } from '../../../src/domain/special-ranges.js'

type Reason = ReturnType<typeof specialReason>

/** The two registries in full, then multicast and reserved space, which they leave to other registries. */
const registry: readonly (readonly [range: string, reason: Exclude<Reason, undefined>])[] = [
  ['0.0.0.0/8', 'special_address'], // "This network"
  ['0.0.0.0/32', 'special_address'], // "This host on this network"
  ['10.0.0.0/8', 'private_address'],
  ['100.64.0.0/10', 'private_address'], // Shared Address Space
  ['127.0.0.0/8', 'private_address'],
  ['169.254.0.0/16', 'private_address'],
  ['172.16.0.0/12', 'private_address'],
  ['192.0.0.0/24', 'special_address'], // IETF Protocol Assignments
  ['192.0.0.0/29', 'special_address'], // IPv4 Service Continuity Prefix
  ['192.0.0.8/32', 'special_address'], // IPv4 dummy address
  ['192.0.0.9/32', 'special_address'], // Port Control Protocol Anycast, globally reachable
  ['192.0.0.10/32', 'special_address'], // TURN Anycast, globally reachable
  ['192.0.0.170/32', 'special_address'], // NAT64/DNS64 Discovery
  ['192.0.0.171/32', 'special_address'],
  ['192.0.2.0/24', 'special_address'], // TEST-NET-1
  ['192.31.196.0/24', 'special_address'], // AS112-v4
  ['192.52.193.0/24', 'special_address'], // AMT
  ['192.88.99.0/24', 'special_address'], // Deprecated (6to4 Relay Anycast)
  ['192.88.99.2/32', 'special_address'], // 6a44-relay anycast address
  ['192.168.0.0/16', 'private_address'],
  ['192.175.48.0/24', 'special_address'], // Direct Delegation AS112 Service
  ['198.18.0.0/15', 'special_address'], // Benchmarking
  ['198.51.100.0/24', 'special_address'], // TEST-NET-2
  ['203.0.113.0/24', 'special_address'], // TEST-NET-3
  ['240.0.0.0/4', 'special_address'], // Reserved
  ['255.255.255.255/32', 'special_address'], // Limited Broadcast
  ['::1/128', 'private_address'],
  ['::/128', 'special_address'],
  // ::ffff:0:0/96, IPv4-mapped, is read as IPv4.
  ['64:ff9b::/96', 'special_address'], // IPv4-IPv6 Translation
  ['64:ff9b:1::/48', 'special_address'],
  ['100::/64', 'special_address'], // Discard-Only
  ['100:0:0:1::/64', 'special_address'], // Dummy IPv6 Prefix
  ['2001::/23', 'special_address'], // IETF Protocol Assignments
  ['2001::/32', 'special_address'], // TEREDO
  ['2001:1::1/128', 'special_address'], // Port Control Protocol Anycast
  ['2001:1::2/128', 'special_address'], // TURN Anycast
  ['2001:1::3/128', 'special_address'], // DNS-SD SRP Anycast
  ['2001:2::/48', 'special_address'], // Benchmarking
  ['2001:3::/32', 'special_address'], // AMT
  ['2001:4:112::/48', 'special_address'], // AS112-v6
  ['2001:10::/28', 'special_address'], // Deprecated (ORCHID)
  ['2001:20::/28', 'special_address'], // ORCHIDv2
  ['2001:30::/28', 'special_address'], // Drone Remote ID
  ['2001:db8::/32', 'special_address'],
  ['2002::/16', 'special_address'], // 6to4
  ['2620:4f:8000::/48', 'special_address'], // Direct Delegation AS112 Service
  ['3fff::/20', 'special_address'],
  ['5f00::/16', 'special_address'], // SRv6 SIDs
  ['fc00::/7', 'private_address'],
  ['fe80::/10', 'private_address'],

  ['224.0.0.0/4', 'special_address'],
  ['fec0::/10', 'private_address'], // site local, deprecated
  ['ff00::/8', 'special_address'],
  ['::/3', 'special_address'], // everything outside global unicast, 2000::/3
  ['4000::/2', 'special_address'],
  ['8000::/1', 'special_address'],
]

/** One list a family: BlockList lets IPv6 subnets reach IPv4 addresses through ::ffff:0:0/96. */
const only = (version: 4 | 6): Readonly<Record<'private_address' | 'special_address', BlockList>> => {
  const rows = registry.filter(([range]) => range.includes(':') === (version === 6))
  const build = (reason: Reason): BlockList => {
    const list = new BlockList()
    for (const [range, kind] of rows) {
      const [address = '', bits] = range.split('/')
      if (kind === reason) list.addSubnet(address, Number(bits), version === 4 ? 'ipv4' : 'ipv6')
    }
    return list
  }
  return { private_address: build('private_address'), special_address: build('special_address') }
}
const lists = { ipv4: only(4), ipv6: only(6) }

const expected = (address: string): Reason => {
  const family = isIPv4(address) ? 'ipv4' : 'ipv6'
  if (lists[family].private_address.check(address, family)) return 'private_address'
  return lists[family].special_address.check(address, family) ? 'special_address' : undefined
}
const ours = (address: string): Reason => specialReason(readAddress(address) ?? 0)

const toBigInt = (address: Address): bigint =>
  typeof address === 'number' ? BigInt(address) : address.reduce((sum, word) => (sum << 32n) | BigInt(word), 0n)
const fromBigInt = (value: bigint, version: 4 | 6): string | undefined => {
  if (value < 0n || value >= 1n << (version === 4 ? 32n : 128n)) return undefined
  if (version === 4) return formatAddress(Number(value))
  const word = (shift: bigint): number => Number((value >> shift) & 0xffffffffn)
  return formatAddress([word(96n), word(64n), word(32n), word(0n)])
}

describe('special ranges', () => {
  it.each(registry)('agree with the registry at every boundary of %s (%s)', (text, reason) => {
    const range = parseRange(text)
    if (!range) throw new Error(`not a range: ${text}`)
    const first = toBigInt(range.first)
    const last = toBigInt(range.last)
    for (const value of [first - 1n, first, last, last + 1n]) {
      const address = fromBigInt(value, range.version)
      if (address !== undefined) expect([address, ours(address)]).toEqual([address, expected(address)])
    }
    // A wider row may hold a private one at its very edge; its middle is always its own or narrower.
    if (reason === 'private_address') expect(ours(formatAddress(range.first))).toBe(reason)
    expect(ours(formatAddress(range.last))).toBeDefined()
  })

  it('agree with the registry everywhere', () => {
    const heads = ['0', '64', '100', '2001', '2002', '2620', '3fff', '5f00', 'fc00', 'fe80', 'fec0', 'ff02', '2a00']
    const group = fc.constantFrom('0', '1', '2', '20', '30', '112', 'db8', '8000', 'ff9b', 'ffff')
    const ipv6 = fc
      .tuple(fc.constantFrom(...heads), fc.array(group, { minLength: 7, maxLength: 7 }))
      .map(([head, tail]) => [head, ...tail].join(':'))
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), ipv6), (text) => {
        const address = formatAddress(readAddress(text) ?? 0)
        expect([address, ours(address)]).toEqual([address, expected(address)])
      }),
      { numRuns: 3000 },
    )
  })

  it.each([
    ['8.8.8.8', undefined],
    ['11.0.0.0', undefined],
    ['100.63.255.255', undefined],
    ['100.128.0.0', undefined],
    ['172.32.0.0', undefined],
    ['192.0.1.0', undefined],
    ['223.255.255.255', undefined],
    ['2606:4700::1111', undefined],
    ['2001:200::1', undefined],
    ['2001:1ff:ffff::1', 'special_address'],
    ['2003::1', undefined],
    ['3ffe::1', undefined],
    ['64:ff9b::808:808', 'special_address'],
    ['2002:808:808::1', 'special_address'],
    ['::808:808', 'special_address'],
    ['fd12:3456::1', 'private_address'],
    ['169.254.169.254', 'private_address'],
  ])('say about %s: %s', (address, reason) => {
    expect(ours(address)).toBe(reason)
  })

  it.each([
    ['10.0.0.1', true],
    ['100.64.0.1', true],
    ['224.0.0.251', true],
    ['255.255.255.255', true],
    ['0.0.0.0', true],
    ['::', true],
    ['ff02::fb', true],
    ['fe80::1', true],
    ['203.0.113.1', false],
    ['2002:a00:1::1', false],
    ['240.0.0.1', false],
    ['8.8.8.8', false],
  ])('count %s as inside: %s', (address, inside) => {
    expect(isInside(readAddress(address) ?? -1)).toBe(inside)
  })
})
