import { describe, expect, it } from 'vitest'
import {
  accusedValue,
  countId,
  countValue,
  offsetValue,
  readAccused,
  readCount,
  readOffset,
} from '../../../src/follow-up/count-record.js'
import type { SeenOnDay } from '../../../src/follow-up/seen.js'
import { kindsIn } from '../../../src/follow-up/kinds.js'
import { trafficBit, unknownTraffic } from '../../../src/follow-up/traffic.js'

const seen: SeenOnDay = {
  day: 20_772,
  indicator: { type: 'ip', value: '2001:db8::7' },
  count: 12,
  first: 5,
  last: 86_399_999,
  firstOffset: 9_000_000_000,
  lastOffset: 9_000_000_400,
  peers: ['10.0.0.1', '2001:db8::1'],
  otherSightings: 2,
  unalerted: 3,
  pending: 256,
  traffic: 0b101,
  kinds: 0b11,
}

describe('count records', () => {
  it('are read back as they were', () => {
    expect(countId(seen)).toBe('2026-11-15/2001:db8::7')
    for (const one of [
      seen,
      { ...seen, ports: [443, 8443] },
      { ...seen, indicator: { type: 'domain', value: 'a.example.com' }, peers: [] } as const,
    ])
      expect(readCount(countId(one), countValue(one))).toEqual(one)
    expect(readOffset(offsetValue(42))).toBe(42)
  })

  it('of a former version are read, with traffic that is not known', () => {
    const former = Buffer.from(String(countValue(seen)).replace(/,"traffic":\d+,"kinds":\d+/, ''))
    expect(readCount(countId(seen), former)?.traffic).toBe(unknownTraffic)
  })

  it('of a version without kinds are read by direction and action', () => {
    const traffic = trafficBit({ direction: 'inbound', action: 'allowed' }) | unknownTraffic
    const former = Buffer.from(String(countValue({ ...seen, traffic })).replace(/,"kinds":\d+/, ''))
    expect(kindsIn(readCount(countId(seen), former)?.kinds ?? 0)).toEqual([
      { seen_as: 'called', action: 'unknown' },
      { seen_as: 'peer', action: 'allowed' },
    ])
  })

  it.each([
    ['17', countValue(seen)],
    ['2026-11-15/192.0.2.1', offsetValue(1)],
    ['2026-11-15/192.0.2.1', Buffer.from('{"schema_version":3}')],
    ['2026-11-15/192.0.2.1', Buffer.from('{"schema_version":2,"count":-1}')],
    ['2026-11-16/192.0.2.1', countValue(seen)],
    ['2026-11-15/192.0.2.1', Buffer.from('[]')],
    ['2026-99-15/192.0.2.1', countValue(seen)],
  ])('are nothing else: %s', (key, value) => {
    expect(readCount(key, value)).toBeUndefined()
  })
})

describe('a count that nobody counted', () => {
  const key = countId(seen)
  const forged = (over: object, at = key): ReturnType<typeof readCount> =>
    readCount(at, Buffer.from(JSON.stringify({ ...(JSON.parse(String(countValue(seen))) as object), ...over })))
  const longest = (length: number): string =>
    `${'a'.repeat(length - 197)}.${'b'.repeat(12)}.${`${'b'.repeat(59)}.`.repeat(3)}com`

  it.each<[string, object]>([
    ['of more events than its records can hold', { count: 401 * 10_000 + 1 }],
    ['of 4,000,000,000 events in one record', { count: 4_000_000_000, first_offset: 7, last_offset: 7 }],
    ['whose last offset is before its first', { first_offset: 9, last_offset: 8 }],
    ['of more further hosts than its events can name', { other_sightings: 12 * 64 + 1 }],
    ['with more than sixteen hosts', { peers: Array.from({ length: 17 }, (_, nth) => `10.0.0.${nth}`) }],
    ['with a host that is no address and no name', { peers: ['10.0.0.1', 'invented host'] }],
    ['with an address that is not in its normal form', { peers: ['010.0.0.1'] }],
    ['with a long host', { peers: ['a'.repeat(300)] }],
    ['with a host that is no text', { peers: [{ toString: 1 }] }],
    ['with a time of another form', { first_seen: `${' '.repeat(5_000)}2026-11-15` }],
    ['that is too long', { comment: 'a'.repeat(8_192) }],
  ])('is not believed: one %s', (_, over) => {
    expect(forged({})).toBeDefined()
    expect(forged(over)).toBeUndefined()
  })

  it.each(['2026-11-15/<script>', '2026-11-15/A.example.com', `${key}${'a'.repeat(1_000)}`])(
    'is not believed about what is no indicator: %s',
    (at) => {
      expect(forged({}, at)).toBeUndefined()
    },
  )

  it('names no host that is not one of our own', () => {
    const peers = ['10.0.0.1', '8.8.8.8', 'dc01.corp']
    const value = Buffer.from(String(countValue({ ...seen, peers })))
    expect(readCount(key, value, (host) => host !== '8.8.8.8')?.peers).toEqual(['10.0.0.1', 'dc01.corp'])
  })

  it('may be as large as one that was counted', () => {
    const largest = {
      ...seen,
      indicator: { type: 'domain', value: longest(253) } as const,
      count: 401 * 10_000,
      otherSightings: 401 * 10_000 * 64,
      peers: Array.from({ length: 16 }, (_, nth) => `${'abcdefghijklmnop'[nth] ?? ''}${longest(252)}`),
    }
    expect(readCount(countId(largest), countValue(largest))).toEqual(largest)
  })
})

describe('what a chunk accuses', () => {
  it('is written in a bounded size, however many names of a listed domain its events show', () => {
    const values = Array.from({ length: 9_000 }, (_, nth) => `${nth}.${'x'.repeat(60)}.listed.example.net`)
    const few = values.slice(0, 3)
    const some = accusedValue([
      { offset: 7, values },
      { offset: 8, values: few },
    ])
    expect(readAccused(some)).toEqual([
      { offset: 7, values: ['*'] },
      { offset: 8, values: few },
    ])
    const all = accusedValue(Array.from({ length: 500 }, (_, offset) => ({ offset, values: values.slice(0, 64) })))
    expect(all.length).toBeLessThan(131_072)
    expect(readAccused(all)[499]).toEqual({ offset: 499, values: ['*'] })
  })
})
