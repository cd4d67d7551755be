import { describe, expect, it } from 'vitest'
import { countKey, countValue, countedValue, readCount, readCounted } from '../../../src/follow-up/count-record.js'
import type { SeenOnDay } from '../../../src/follow-up/seen.js'
import { unknownTraffic } from '../../../src/follow-up/traffic.js'

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
}

describe('count records', () => {
  it('are read back as they were', () => {
    expect(countKey('firewall.eu/3', seen)).toBe('firewall.eu/3/2026-11-15/2001:db8::7')
    for (const one of [seen, { ...seen, indicator: { type: 'domain', value: 'a.example.com' }, peers: [] } as const])
      expect(readCount(countKey('firewall.eu/3', one), countValue(one))).toEqual({
        partition: 'firewall.eu/3',
        seen: one,
      })
    expect(readCounted(countedValue(42))).toBe(42)
  })

  it('of a former version are read, with traffic that is not known', () => {
    const former = Buffer.from(String(countValue(seen)).replace(/,"traffic":\d+/, ''))
    expect(readCount(countKey('t/0', seen), former)?.seen.traffic).toBe(unknownTraffic)
  })

  it.each([
    ['firewall/3/pending/17', countValue(seen)],
    ['firewall/3/counted', countedValue(1)],
    ['firewall/3/2026-11-15/192.0.2.1', Buffer.from('{"schema_version":2}')],
    ['firewall/3/2026-11-15/192.0.2.1', Buffer.from('{"schema_version":1,"count":-1}')],
    ['firewall/3/2026-11-16/192.0.2.1', countValue(seen)],
    ['firewall/3/2026-11-15/192.0.2.1', Buffer.from('[]')],
    ['firewall/3/2026-99-15/192.0.2.1', countValue(seen)],
  ])('are nothing else: %s', (key, value) => {
    expect(readCount(key, value)).toBeUndefined()
  })
})
