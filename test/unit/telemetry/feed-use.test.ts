// What is counted of each feed: what events show of it, what alerts it causes, what the safeguard holds back.
import { describe, expect, it } from 'vitest'
import type { Judged, Verdict } from '../../../src/domain/verdict.js'
import { createCountDistinct } from '../../../src/telemetry/count-distinct.js'
import type { TelemetryEvent } from '../../../src/telemetry/event.js'
import { createFeedUse } from '../../../src/telemetry/feed-use.js'

const judged = (value: string, verdict: Partial<Verdict> = {}): Judged => ({
  sighting: { type: 'ip', value, field: 'ip', role: 'source', evidence: 'field' },
  decision: { decision: 'lookup', ask: { type: 'ip', value } },
  verdict: { level: 'unknown', reason: 'not_listed', flags: {}, because: '', ...verdict },
})
const listed = (feed: string, entry: string): Partial<Verdict> => ({ level: 'malicious', feed, entry })
const address = (n: number): string => `203.0.${n >> 8}.${n & 255}`

describe('the count of distinct texts', () => {
  it.each([0, 1, 100, 5_000, 200_000])('is within a few percent of %d', (distinct) => {
    const counted = createCountDistinct()
    for (let round = 0; round < 2; round++) for (let n = 0; n < distinct; n++) counted.add(`198.51.${n}`)
    expect(Math.abs(counted.count() - distinct)).toBeLessThanOrEqual(distinct * 0.06)
  })
})

describe('the use of a feed', () => {
  it('counts entries once, and an event once however many of its indicators are listed', () => {
    const use = createFeedUse(['c2', 'other'], () => undefined)
    use.see([judged('203.0.113.7', listed('c2', '203.0.113.7')), judged('203.0.113.8', listed('c2', '203.0.113.8'))])
    use.see([judged('203.0.113.7', listed('c2', '203.0.113.7')), judged('198.51.100.1')])
    expect(use.of('c2')).toMatchObject({ entriesSeen: 2, events: 2, heldBack: 0, share: 2 / 3 })
    expect(use.of('other')).toMatchObject({ entriesSeen: 0, events: 0, share: 0 })
    expect(use.of('unknown')).toBeUndefined()
  })

  it('counts for everyone who lists it, and what the safeguard holds back', () => {
    const use = createFeedUse(['a', 'b'], () => undefined)
    const listings = ['a', 'b'].map((feed) => ({ feed, entry: 'x', level: 'malicious' as const, categories: [] }))
    use.see([judged('203.0.113.7', { ...listed('a', 'x'), listings })])
    use.see([judged('104.21.3.7', { reason: 'safeguarded', feed: 'b', entry: '104.21.3.7:443' })])
    expect([use.of('a'), use.of('b')]).toMatchObject([
      { events: 1, heldBack: 0 },
      { events: 2, heldBack: 1 },
    ])
  })

  it('tells alerts that one feed alone caused from those that others would have caused too', () => {
    const use = createFeedUse(['a', 'b'], () => undefined)
    const both = ['a', 'b'].map((feed) => ({ feed, level: 'malicious' }))
    use.alerted({ threatweave: { feed: 'a' } })
    use.alerted({ threatweave: { feed: 'a', listings: both } })
    use.alerted({ threatweave: { feed: 'a', accusers: 2 } })
    use.alerted({ threatweave: { feed: 'a', kind: 'update' } })
    use.alerted({ threatweave: {} })
    expect([use.of('a'), use.of('b')]).toMatchObject([
      { alerts: 3, onlyAlerts: 1 },
      { alerts: 1, onlyAlerts: 0 },
    ])
  })

  it('warns once of a feed that lists more than one in a hundred of what is seen', () => {
    const told: TelemetryEvent[] = []
    const use = createFeedUse(['broad', 'narrow'], (event) => told.push(event))
    for (let n = 0; n < 20_000; n++)
      use.see([
        judged(
          address(n),
          n % 20 === 0 ? listed('broad', '203.0.0.0/16') : n % 500 === 1 ? listed('narrow', address(n)) : {},
        ),
      ])
    expect(told).toEqual([{ event: 'feed_lists_many', feed: 'broad', share: expect.closeTo(0.05, 2) as number }])
  })

  it('says nothing of a share before a thousand addresses were seen', () => {
    const told: TelemetryEvent[] = []
    const use = createFeedUse(['broad'], (event) => told.push(event))
    for (let n = 0; n < 20_000; n++) use.see([judged(address(n % 500), listed('broad', '203.0.0.0/16'))])
    expect(told).toEqual([])
  })
})
