// Host names: which text is one, what its normal form is, and which address a reverse name stands for.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isSuffix, parseHostname, parseSuffix, reverseNameToAddress } from '../../../src/domain/hostname.js'

const label63 = 'a'.repeat(63)
const name253 = `${[label63, label63, label63].join('.')}.${'b'.repeat(57)}.com`

describe('parseHostname', () => {
  it.each([
    ['example.com', 'example.com'],
    ['WWW.Example.COM', 'www.example.com'],
    ['example.com.', 'example.com'],
    ['bücher.example.com', 'xn--bcher-kva.example.com'],
    ['BÜCHER.example.com', 'xn--bcher-kva.example.com'],
    ['xn--bcher-kva.example.com', 'xn--bcher-kva.example.com'],
    ['例え。example。com', 'xn--r8jz45g.example.com'],
    ['ｅｘａｍｐｌｅ.com', 'example.com'],
    ['a-b.example.com', 'a-b.example.com'],
    ['r3---sn.example.com', 'r3---sn.example.com'],
    ['1.example.com', '1.example.com'],
    ['192.0.2.1.example.com', '192.0.2.1.example.com'],
    ['example.xn--p1ai', 'example.xn--p1ai'],
    ['_dmarc.example.com', '_dmarc.example.com'],
    ['my_host.example.com', 'my_host.example.com'],
    ['-x-.example.com', '-x-.example.com'],
    [`${label63}.com`, `${label63}.com`],
    [name253, name253],
    [`${name253}.`, name253],
  ])('writes %s as %s', (text, expected) => {
    expect(parseHostname(text)).toBe(expected)
  })

  it.each([
    '',
    '.',
    'localhost',
    'localhost.',
    'example.com..',
    '.example.com',
    'a..example.com',
    'exa mple.com',
    'example.com/',
    'example.com:443',
    'user@example.com',
    '*.example.com',
    'example.123',
    '192.0.2.1',
    '192.0.2',
    '１９２.0.2.1',
    'a_b.com',
    'example.c_m',
    '-example.com',
    'example-.com',
    'example.-com',
    `a${label63}.com`,
    `a${name253}`,
    `${'ü'.repeat(64)}.com`,
    `${'a.'.repeat(500000)}com`,
    `${'ü.'.repeat(500000)}com`,
    'exam%70le.com',
    'a\u0000.com',
    '\ud800.com',
  ])('refuses %j', (text) => {
    expect(parseHostname(text)).toBeUndefined()
  })

  it('gives a normal form that is its own normal form, for any text', () => {
    const piece = fc.constantFrom(
      'a',
      'B',
      '0',
      '-',
      '_',
      '.',
      'ü',
      'ß',
      '。',
      'xn--',
      '日',
      'com',
      '\u200d',
      '\ud83d\ude00',
    )
    const text = fc.oneof(
      fc.domain(),
      fc.array(piece, { maxLength: 20 }).map((pieces) => pieces.join('')),
      fc.string({ unit: 'binary', maxLength: 60 }),
    )
    fc.assert(
      fc.property(text, (candidate) => {
        const once = parseHostname(candidate)
        if (once === undefined) return
        expect(once).toMatch(/^[a-z0-9_-]+(\.[a-z0-9_-]+)+$/)
        expect(parseHostname(once)).toBe(once)
      }),
      { numRuns: 3000 },
    )
  })
})

describe('parseSuffix', () => {
  it.each([
    ['corp', 'corp'],
    ['.corp', 'corp'],
    ['Corp.Example.COM.', 'corp.example.com'],
    ['*.example.com', 'example.com'],
    ['_tcp', '_tcp'],
    ['bücher', 'xn--bcher-kva'],
  ])('writes %s as %s', (text, expected) => {
    expect(parseSuffix(text)).toBe(expected)
    expect(isSuffix(text)).toBe(true)
  })

  it.each(['', '.', '..corp', 'a b', '192.0.2.1', '10', 'a/b', '*', '*.*.example.com'])('refuses %j', (text) => {
    expect(parseSuffix(text)).toBeUndefined()
    expect(isSuffix(text)).toBe(false)
  })
})

describe('reverseNameToAddress', () => {
  const nibbles = 'b.a.9.8.7.6.5.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2'

  it.each([
    ['1.2.0.192.in-addr.arpa', '192.0.2.1'],
    [`${nibbles}.ip6.arpa`, '2001:db8::567:89ab'],
  ])('takes %s for %s', (name, address) => {
    expect(reverseNameToAddress(name)).toBe(address)
  })

  it.each([
    '2.0.192.in-addr.arpa',
    'x.1.2.0.192.in-addr.arpa',
    '256.2.0.192.in-addr.arpa',
    '01.2.0.192.in-addr.arpa',
    'in-addr.arpa',
    '1.2.0.192.example.com',
    `${nibbles.slice(2)}.ip6.arpa`,
    `0.${nibbles}.ip6.arpa`,
    `${nibbles.replace('b.a', 'g.a')}.ip6.arpa`,
    `${nibbles.replace('b.a.9', 'ba..9')}.ip6.arpa`,
    'ip6.arpa',
  ])('finds no address in %s', (name) => {
    expect(reverseNameToAddress(name)).toBeUndefined()
  })
})
