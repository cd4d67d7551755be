import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  formatAddress,
  parseRange,
  readAddress,
  type Address,
  type AddressRange,
  type Words,
} from '../../../src/domain/address.js'
import { collect } from '../../../src/feeds/collect.js'
import { anyPort, unknownPort } from '../../../src/domain/seen-port.js'
import { bitsOf } from '../../../src/feeds/too-broad.js'
import type { Details } from '../../../src/feeds/feed.js'
import { findHit, sizeOf, targetOf, type FeedIndex } from '../../../src/feeds/feed-index.js'

type Entry = readonly [value: string, details?: Details]

const indexOf = (entries: readonly Entry[], rules: Partial<Parameters<typeof collect>[0]> = {}): FeedIndex => {
  const collector = collect({
    categories: [],
    modified: () => 0,
    now: 0,
    isWhole: true,
    ...rules,
  })
  entries.forEach(([value, details], line) => collector.add(value, line + 1, details))
  expect(collector.refusal()).toBeUndefined()
  return collector.index(7)
}

const look = (index: FeedIndex, value: string, now = 0): string | undefined => {
  const target = targetOf({ type: readAddress(value) === undefined ? 'domain' : 'ip', value })
  return target && findHit(index, target, now / 1000)?.entry
}

describe('findHit', () => {
  const index = indexOf([
    ['198.51.100.0/24'],
    ['198.51.100.64/26'],
    ['198.51.100.70'],
    ['203.0.113.255'],
    ['2001:db8:1::/48'],
    ['2001:db8:1:2::/64'],
    ['2001:db8:1:2::7'],
    ['bad.example.com'],
    ['worse.bad.example.com'],
  ])

  it.each<[string, string | undefined]>([
    ['198.51.100.0', '198.51.100.0/24'],
    ['198.51.100.63', '198.51.100.0/24'],
    ['198.51.100.64', '198.51.100.64/26'],
    ['198.51.100.70', '198.51.100.70'],
    ['198.51.100.71', '198.51.100.64/26'],
    ['198.51.100.127', '198.51.100.64/26'],
    ['198.51.100.128', '198.51.100.0/24'],
    ['198.51.100.255', '198.51.100.0/24'],
    ['198.51.99.255', undefined],
    ['198.51.101.0', undefined],
    ['203.0.113.255', '203.0.113.255'],
    ['203.0.113.254', undefined],
    ['0.0.0.0', undefined],
    ['255.255.255.255', undefined],
    ['2001:db8:1::', '2001:db8:1::/48'],
    ['2001:db8:1:2::6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::7', '2001:db8:1:2::7'],
    ['2001:db8:1:ffff:ffff:ffff:ffff:ffff', '2001:db8:1::/48'],
    ['2001:db8:2::', undefined],
    ['2001:db8:0:ffff:ffff:ffff:ffff:ffff', undefined],
    ['bad.example.com', 'bad.example.com'],
    ['www.bad.example.com', 'bad.example.com'],
    ['worse.bad.example.com', 'worse.bad.example.com'],
    ['a.b.worse.bad.example.com', 'worse.bad.example.com'],
    ['notbad.example.com', undefined],
    ['example.com', undefined],
    ['com', undefined],
  ])('finds for %s the most specific entry: %s', (value, entry) => {
    expect(look(index, value)).toBe(entry)
  })

  it('finds nothing in a feed without entries', () => {
    const empty = indexOf([])
    expect(['198.51.100.7', '2001:db8::1', 'bad.example.com'].map((value) => look(empty, value))).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })

  it('passes over an expired entry to a wider one that still counts', () => {
    const expiring = indexOf([
      ['198.51.100.0/24'],
      ['198.51.100.7', { expires: 5000 }],
      ['bad.example.com'],
      ['www.bad.example.com', { expires: 5000 }],
    ])
    expect([4999, 5000].map((now) => look(expiring, '198.51.100.7', now))).toEqual(['198.51.100.7', '198.51.100.0/24'])
    expect([4999, 5000].map((now) => look(expiring, 'www.bad.example.com', now))).toEqual([
      'www.bad.example.com',
      'bad.example.com',
    ])
  })

  it('keeps of the same entry the one that counts longest, then the higher score', () => {
    const repeated = indexOf([
      ['198.51.100.7', { score: 90, expires: 5000 }],
      ['198.51.100.7', { score: 40 }],
      ['198.51.100.7', { score: 60 }],
      ['bad.example.com', { score: 60 }],
      ['bad.example.com', { score: 90, expires: 5000 }],
    ])
    expect(findHit(repeated, { address: [0xc6336407], width: 1, text: '', port: 0 }, 0)?.score).toBe(60)
    expect(findHit(repeated, { name: 'bad.example.com' }, 0)?.score).toBe(60)
    expect(sizeOf(repeated)).toMatchObject({ addresses: 1, names: 1 })
  })

  it('tells score, categories and expiry of the entry, else those of the feed', () => {
    const told = indexOf(
      [
        ['198.51.100.7', { score: 90.4, categories: ['Botnet ', '', 'x\u0000y\n', 'own'], expires: 5999 }],
        ['198.51.100.8', { score: 1000 }],
        ['198.51.100.9', { seen: 86_400_000 }],
      ],
      { score: 50, categories: ['own'], expiresDays: 1 },
    )
    const hits = ['198.51.100.7', '198.51.100.8', '198.51.100.9'].map((value) =>
      findHit(told, targetOf({ type: 'ip', value })!, 0),
    )
    expect(hits).toEqual([
      { entry: '198.51.100.7', score: 90, categories: ['botnet', 'x y', 'own'], expires: 5000 },
      { entry: '198.51.100.8', score: 100, categories: ['own'], expires: 86_400_000 },
      { entry: '198.51.100.9', score: 50, categories: ['own'], expires: 2 * 86_400_000 },
    ])
  })

  it('bounds the lists of categories', () => {
    const many = indexOf(
      Array.from({ length: 5000 }, (_, i) => [`h${i}.example.com`, { categories: [`c${i}`] }] as const),
    )
    expect(many.categories).toHaveLength(4096)
    expect(findHit(many, { name: 'h4999.example.com' }, 0)?.categories).toEqual([])
  })
})

const contains = (range: AddressRange, address: Address): boolean => {
  const compare = (a: Words, b: Words): number => a[0] - b[0] || a[1] - b[1] || a[2] - b[2] || a[3] - b[3]
  if (range.version === 4) return typeof address === 'number' && range.first <= address && address <= range.last
  return typeof address !== 'number' && compare(range.first, address) <= 0 && compare(address, range.last) <= 0
}

/** A handful of neighbours, so that ranges nest and touch. */
const four = fc.tuple(fc.constantFrom(0x0b000000, 0x0b00ff00, 0xdfffff00), fc.nat(255)).map(([a, b]) => a + b)
const six = fc
  .tuple(fc.constantFrom(0x24000000, 0x2400ffff), fc.constantFrom(0, 1), fc.constantFrom(0, 0xffffffff), fc.nat(15))
  .map((words): Words => words)
const address = fc.oneof<fc.Arbitrary<Address>[]>(four, six).map(formatAddress)
const range = fc.oneof(
  fc.tuple(four.map(formatAddress), fc.integer({ min: 8, max: 32 })).map(([text, bits]) => `${text}/${bits}`),
  fc.tuple(six.map(formatAddress), fc.integer({ min: 19, max: 128 })).map(([text, bits]) => `${text}/${bits}`),
)
const name = fc
  .array(fc.constantFrom('a', 'b', 'ab', 'x-1'), { minLength: 1, maxLength: 4 })
  .map((labels) => [...labels, 'example.com'].join('.'))
const expires = fc.constantFrom(undefined, 1000, 3000)

describe('the index and a naive matcher', () => {
  it('agree on addresses', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(range, expires), { maxLength: 40 }),
        fc.array(address, { maxLength: 20 }),
        (entries, asked) => {
          const index = indexOf(entries.map(([value, expires]) => [value, { expires }]))
          for (const value of asked) {
            const around = entries
              .filter(([, until]) => until === undefined || until > 2000)
              .map(([text]) => parseRange(text)!)
              .filter((range) => contains(range, readAddress(value)!))
              .map(bitsOf)
            const entry = look(index, value, 2000)
            const found = entry === undefined ? -1 : bitsOf(parseRange(entry)!)
            expect([value, found]).toEqual([value, Math.max(-1, ...around)])
          }
        },
      ),
    )
  })

  it('agree on names', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(name, expires), { maxLength: 30 }),
        fc.array(name, { maxLength: 20 }),
        (entries, asked) => {
          const index = indexOf(entries.map(([value, expires]) => [value, { expires }]))
          for (const value of asked) {
            const suffixes = entries
              .filter(([, until]) => until === undefined || until > 2000)
              .map(([text]) => text)
              .filter((text) => value === text || value.endsWith(`.${text}`))
              .sort((a, b) => b.length - a.length)
            expect([value, look(index, value, 2000)]).toEqual([value, suffixes[0]])
          }
        },
      ),
    )
  })
})

describe('what an entry means', () => {
  const hit = (index: FeedIndex, value: string, now = 0): ReturnType<typeof findHit> => {
    const target = targetOf({ type: readAddress(value) === undefined ? 'domain' : 'ip', value })
    return target && findHit(index, target, now / 1000)
  }

  it('leaves out entries whose own score is below minScore, and takes those without one', () => {
    const index = indexOf([['198.51.100.1', { score: 20 }], ['198.51.100.2', { score: 50 }], ['198.51.100.3']], {
      minScore: 50,
      score: 10,
    })
    expect(['198.51.100.1', '198.51.100.2', '198.51.100.3'].map((value) => look(index, value))).toEqual([
      undefined,
      '198.51.100.2',
      '198.51.100.3',
    ])
  })

  it('lives as long as its type does', () => {
    const day = 86_400_000
    const index = indexOf(
      [
        ['198.51.100.1', { seen: 0 }],
        ['bad.example.com', { seen: 0 }],
        ['https://bad.example.net/x', { seen: 0 }],
      ],
      {
        expiresDays: { ip: 30, domain: 90 },
      },
    )
    const values = ['198.51.100.1', 'bad.example.com', 'bad.example.net']
    expect(values.map((value) => hit(index, value, day)?.expires)).toEqual([30 * day, 90 * day, 90 * day])
    expect(values.map((value) => hit(index, value, 31 * day) !== undefined)).toEqual([false, true, true])
    expect(hit(indexOf([['bad.example.com']], { expiresDays: { ip: 1 } }), 'bad.example.com')).not.toHaveProperty(
      'expires',
    )
  })

  it('says how far it may be passed on before all its categories', () => {
    const categories = Array.from({ length: 20 }, (_, i) => `tag-${i}`)
    const index = indexOf([['198.51.100.1', { categories, tlp: 'tlp:amber' }]])
    expect(hit(index, '198.51.100.1')?.categories.slice(0, 2)).toEqual(['tlp:amber', 'tag-0'])
  })
})

describe('an entry for one port of an address', () => {
  const index = indexOf([
    ['198.51.100.7:443', { score: 90 }],
    ['198.51.100.7:8443', { score: 80 }],
    ['203.0.113.0/24'],
    ['203.0.113.7:443', { score: 70 }],
    ['198.51.100.9', { port: 25 }],
    ['198.51.100.10:25'],
    ['198.51.100.10'],
    ['198.51.100.11:443', { expires: 5000 }],
    ['198.51.100.11:444'],
    ['[2001:db8::7]:443'],
    ['198.51.100.12:443'],
    ['198.51.100.12:443', { score: 60 }],
  ])
  const hit = (value: string, port: number, now = 0): string => {
    const target = targetOf({ type: 'ip', value }, { port })
    const { entry = 'none', isPartial, score } = (target && findHit(index, target, now / 1000)) ?? {}
    return `${entry}${isPartial ? ' in part' : ''}${score === undefined ? '' : ` ${score}`}`
  }

  it.each([
    ['198.51.100.7', 443, '198.51.100.7:443 90'],
    ['198.51.100.7', 8443, '198.51.100.7:8443 80'],
    ['198.51.100.7', 22, '198.51.100.7:8443 in part'],
    ['198.51.100.7', unknownPort, '198.51.100.7:8443 in part'],
    ['198.51.100.7', anyPort, '198.51.100.7:8443 80'],
    ['203.0.113.7', 443, '203.0.113.7:443 70'],
    ['203.0.113.7', 22, '203.0.113.0/24'],
    ['198.51.100.9', 25, '198.51.100.9:25'],
    ['198.51.100.9', 26, '198.51.100.9:25 in part'],
    ['198.51.100.10', 25, '198.51.100.10:25'],
    ['198.51.100.10', 26, '198.51.100.10'],
    ['198.51.100.8', 443, 'none'],
    ['2001:db8::7', 443, '[2001:db8::7]:443'],
    ['2001:db8::7', 80, '[2001:db8::7]:443 in part'],
    ['198.51.100.12', 443, '198.51.100.12:443 60'],
  ])('of %s at port %d: %s', (value, port, expected) => {
    expect(hit(value, port)).toBe(expected)
  })

  it('no longer counts once it has expired', () => {
    expect(hit('198.51.100.11', 443, 4000)).toBe('198.51.100.11:443')
    expect(hit('198.51.100.11', 443, 6000)).toBe('198.51.100.11:444 in part')
  })

  it('is counted as an endpoint, each port once', () => {
    expect(sizeOf(index)).toMatchObject({ addresses: 2, endpoints: 9, names: 0, urls: 0 })
  })

  it('costs nothing where no entry has a port', () => {
    expect(indexOf([['198.51.100.7'], ['198.51.100.8']]).four.ports).toHaveLength(0)
  })
})
