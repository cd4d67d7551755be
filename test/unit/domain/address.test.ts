// Addresses: which text is one, what its normal form is, and which range a prefix names.
import { SocketAddress, isIP, isIPv4 } from 'node:net'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatAddress, isCidr, parseAddress, parseRange, readAddress } from '../../../src/domain/address.js'

describe('parseAddress', () => {
  it.each([
    ['0.0.0.0', '0.0.0.0'],
    ['192.0.2.1', '192.0.2.1'],
    ['255.255.255.255', '255.255.255.255'],
    ['::', '::'],
    ['::1', '::1'],
    ['2001:DB8::A', '2001:db8::a'],
    ['2001:0db8:0000:0000:0000:0000:0000:0001', '2001:db8::1'],
    ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['2001:0:0:1:0:0:0:1', '2001:0:0:1::1'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['2001:db8::1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0'],
    ['::2:3:4:5:6:7:8', '0:2:3:4:5:6:7:8'],
    ['ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['fe80::1%eth0', 'fe80::1'],
    ['fe80::1%25', 'fe80::1'],
    ['fe80::1%br-lan.10', 'fe80::1'],
  ])('writes %s as %s', (text, expected) => {
    expect(parseAddress(text)).toBe(expected)
  })

  it.each([
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:c000:0201', '192.0.2.1'],
    ['0:0:0:0:0:ffff:192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1%eth0', '192.0.2.1'],
    ['::192.0.2.1', '192.0.2.1'],
    ['::ffff:0:0', '0.0.0.0'],
  ])('takes %s for the IPv4 address %s', (text, expected) => {
    expect(parseAddress(text)).toBe(expected)
  })

  it.each([
    ['::0.0.0.1', '::1'],
    ['::c000:201', '::c000:201'],
    ['::ffff:0:192.0.2.1', '::ffff:0:c000:201'],
    ['64:ff9b::192.0.2.1', '64:ff9b::c000:201'],
    ['1:2:3:4:5:6:192.0.2.1', '1:2:3:4:5:6:c000:201'],
  ])('leaves %s an IPv6 address, %s', (text, expected) => {
    expect(parseAddress(text)).toBe(expected)
  })

  it.each([
    '',
    '1',
    '1.2.3',
    '1.2.3.4.5',
    '1.2.3.',
    '.1.2.3',
    '1..2.3',
    '1.2.3.256',
    '1.2.3.1000',
    '010.1.2.3',
    '1.2.3.00',
    '1.2.3.04',
    '0x1.2.3.4',
    '1.2.3.4 ',
    ' 1.2.3.4',
    '1.2.3.4/24',
    '1.2.3.4:53',
    '1.2.3.4%eth0',
    '+1.2.3.4',
    '١.2.3.4',
    ':',
    ':::',
    '1:2',
    '1::2::3',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4:5:6:7:8::',
    '1:2:3:4:5:6:7:',
    ':1:2:3:4:5:6:7',
    '12345::',
    '::g',
    '[::1]',
    '::1%',
    '::1%a b',
    `::1%${'a'.repeat(33)}`,
    '%eth0',
    '::1.2.3',
    '::1.2.3.04',
    '::1.2.3.4:5',
    '1:2:3:4:5:6:7:1.2.3.4',
    '::1/64',
    '00:11:22:33:44:55',
    `${'0'.repeat(100000)}::`,
  ])('refuses %j', (text) => {
    expect(parseAddress(text)).toBeUndefined()
  })

  it('accepts exactly what node:net accepts, for text made of the characters of addresses', () => {
    const piece = fc.constantFrom('0', '1', '01', '9', '25', '255', '256', 'a', 'F', 'ffff', 'fffff', '.', ':', '::')
    const text = fc.oneof(
      fc.array(piece, { maxLength: 18 }).map((pieces) => pieces.join('')),
      fc
        .array(fc.constantFrom('0', '1', '99', '255', '256', '01'), { minLength: 3, maxLength: 5 })
        .map((x) => x.join('.')),
      fc
        .array(fc.constantFrom('0', '', '1', 'ab', 'ffff', '1.2.3.4'), { minLength: 2, maxLength: 9 })
        .map((x) => x.join(':')),
    )
    fc.assert(
      fc.property(text, (candidate) => {
        expect(parseAddress(candidate) !== undefined).toBe(isIP(candidate) !== 0)
      }),
      { numRuns: 5000 },
    )
  })

  it('writes every IPv6 address as node:net does, apart from those that stand for IPv4', () => {
    const groups = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff })), {
      minLength: 8,
      maxLength: 8,
    })
    fc.assert(
      fc.property(groups, (values) => {
        const text = values.map((value) => value.toString(16).padStart(4, '0')).join(':')
        const ours = parseAddress(text)
        if (ours !== undefined && isIPv4(ours)) return
        const theirs = new SocketAddress({ family: 'ipv6', address: text }).address
        // node writes the last two groups of ::/96 as a dotted quad.
        if (!theirs.includes('.')) expect(ours).toBe(theirs)
      }),
      { numRuns: 2000 },
    )
  })

  it('gives a normal form that is its own normal form', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (text) => {
        const once = parseAddress(text)
        expect(once).toBeDefined()
        expect(parseAddress(once ?? '')).toBe(once)
        expect(formatAddress(readAddress(text) ?? 0)).toBe(once)
      }),
      { numRuns: 2000 },
    )
  })

  it('answers for any text without throwing', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 80 }), (text) => {
        const address = parseAddress(text)
        expect(address === undefined || isIP(address) !== 0).toBe(true)
      }),
    )
  })
})

describe('parseRange', () => {
  it.each([
    ['192.0.2.77/24', '192.0.2.0', '192.0.2.255'],
    ['192.0.2.77', '192.0.2.77', '192.0.2.77'],
    ['192.0.2.77/32', '192.0.2.77', '192.0.2.77'],
    ['192.0.2.77/31', '192.0.2.76', '192.0.2.77'],
    ['0.0.0.0/0', '0.0.0.0', '255.255.255.255'],
    ['128.0.0.1/1', '128.0.0.0', '255.255.255.255'],
    ['::/0', '::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['2001:db8::/32', '2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['2001:db8::1/33', '2001:db8::', '2001:db8:7fff:ffff:ffff:ffff:ffff:ffff'],
    ['2001:db8::1/127', '2001:db8::', '2001:db8::1'],
    ['2001:db8::1/128', '2001:db8::1', '2001:db8::1'],
    ['2001:db8::1', '2001:db8::1', '2001:db8::1'],
    ['::ffff:10.1.2.3/104', '10.0.0.0', '10.255.255.255'],
    ['::ffff:10.1.2.3', '10.1.2.3', '10.1.2.3'],
  ])('reads %s as %s to %s', (text, first, last) => {
    const range = parseRange(text)
    expect(range && [formatAddress(range.first), formatAddress(range.last)]).toEqual([first, last])
  })

  it.each([
    '192.0.2.0/33',
    '192.0.2.0/',
    '192.0.2.0/024',
    '192.0.2.0/-1',
    '192.0.2.0/24/24',
    '192.0.2.0/1e1',
    '192.0.2/24',
    '2001:db8::/129',
    'fe80::%eth0/64',
    '::ffff:10.1.2.3/64',
    'example.com/24',
    '/24',
  ])('refuses %s', (text) => {
    expect(parseRange(text)).toBeUndefined()
    expect(isCidr(text)).toBe(false)
  })
})
