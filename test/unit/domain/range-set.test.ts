// Sets of ranges: membership agrees with node's own BlockList.
import { BlockList, isIPv4 } from 'node:net'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatAddress, parseRange, readAddress, type Address, type AddressRange } from '../../../src/domain/address.js'
import { createRangeSet } from '../../../src/domain/range-set.js'

const rangesOf = (...texts: string[]): AddressRange[] =>
  texts.map((text) => {
    const range = parseRange(text)
    if (!range) throw new Error(`not a range: ${text}`)
    return range
  })
const addressOf = (text: string): Address => {
  const address = readAddress(text)
  if (address === undefined) throw new Error(`not an address: ${text}`)
  return address
}

describe('createRangeSet', () => {
  it('holds nothing when it is made of nothing', () => {
    const set = createRangeSet([])
    expect(set.size).toBe(0)
    expect(set.has(addressOf('0.0.0.0'))).toBe(false)
    expect(set.has(addressOf('::'))).toBe(false)
  })

  it('counts ranges inside one another once', () => {
    expect(
      createRangeSet(rangesOf('10.0.0.0/8', '10.1.0.0/16', '10.255.255.255', '2001:db8::/32', '2001:db8::1')).size,
    ).toBe(2)
  })

  it('keeps the end of a wide range when a narrow one inside it comes later', () => {
    const set = createRangeSet(rangesOf('10.0.0.0/8', '10.0.0.0/24', '2001:db8::/32', '2001:db8::/64'))
    expect(set.has(addressOf('10.200.0.1'))).toBe(true)
    expect(set.has(addressOf('2001:db8:ffff::'))).toBe(true)
  })

  it('does not take an IPv4 address for an IPv6 one or the other way round', () => {
    expect(createRangeSet(rangesOf('::/0')).has(addressOf('192.0.2.1'))).toBe(false)
    expect(createRangeSet(rangesOf('0.0.0.0/0')).has(addressOf('::1'))).toBe(false)
  })

  it('agrees with BlockList about addresses in, beside and far from its ranges', () => {
    // Few distinct groups, so that ranges overlap, touch and contain the addresses often.
    const octet = fc.constantFrom(0, 1, 2, 127, 128, 254, 255)
    const ipv4 = fc.array(octet, { minLength: 4, maxLength: 4 }).map((octets) => octets.join('.'))
    const group = fc.constantFrom('1', '7fff', '8000', 'ffff')
    const ipv6 = fc.array(group, { minLength: 8, maxLength: 8 }).map((groups) => groups.join(':'))
    const range4 = fc.tuple(ipv4, fc.integer({ min: 0, max: 32 }))
    const range6 = fc.tuple(ipv6, fc.integer({ min: 0, max: 128 }))
    fc.assert(
      fc.property(
        fc.array(fc.oneof(range4, range6), { maxLength: 12 }),
        fc.array(fc.oneof(ipv4, ipv6), { minLength: 1, maxLength: 12 }),
        (ranges, addresses) => {
          const list = new BlockList()
          for (const [address, bits] of ranges) list.addSubnet(address, bits, isIPv4(address) ? 'ipv4' : 'ipv6')
          const parsed = rangesOf(...ranges.map(([address, bits]) => `${address}/${String(bits)}`))
          const set = createRangeSet(parsed)
          const edges = parsed.flatMap(({ first, last }) => [formatAddress(first), formatAddress(last)])
          for (const address of [...addresses, ...edges]) {
            // `::/0` and the like reach mapped IPv4 addresses in BlockList alone.
            if (isIPv4(address) && ranges.some(([range, bits]) => !isIPv4(range) && bits <= 96)) continue
            expect([address, set.has(addressOf(address))]).toEqual([
              address,
              list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6'),
            ])
          }
        },
      ),
      { numRuns: 1000 },
    )
  })
})
