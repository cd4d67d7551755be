import { describe, expect, it } from 'vitest'
import type { Finding, Level } from '../../../src/domain/finding.js'
import type { Judged } from '../../../src/domain/verdict.js'
import type { Action, Direction, Role } from '../../../src/domain/sighting.js'
import { anyPort } from '../../../src/domain/seen-port.js'
import { countPartitions } from '../../../src/follow-up/count-partitions.js'
import { maxPeers } from '../../../src/follow-up/day-table.js'
import { createSightingCounts, deliveredOf, type SightingCounts } from '../../../src/follow-up/sighting-counts.js'

const day = 86_400_000
const now = 20_000 * day + 12 * 3_600_000

const seen = (value: string, level: Level = 'unknown', more: Partial<Judged> & { role?: Role } = {}): Judged => {
  const type = /^[\d.]+$|:/.test(value) ? 'ip' : 'domain'
  const { role = 'destination', ...rest } = more
  return {
    sighting: { type, value, field: 'f', role, evidence: 'field' },
    decision: { decision: 'lookup', ask: { type, value } },
    verdict: { level, flags: {}, because: '', ...(level === 'unknown' && { reason: 'not_listed' }) },
    ...rest,
  }
}
const inside = (value: string): Judged =>
  seen(value, 'unknown', { role: 'source', decision: { decision: 'skip', reason: 'private_address' } })

const judge = (finding: Finding): Judged['verdict'] => ({
  level: finding.status === 'known' ? 'malicious' : 'unknown',
  flags: {},
  because: '',
})
const create = (): SightingCounts => createSightingCounts({ seed: 1, hasRoom: () => true, judge })
const ip = (value: string): { type: 'ip'; value: string } => ({ type: 'ip', value })

describe('sighting counts', () => {
  it('count events, times, inside hosts and offsets per indicator, over days', () => {
    const counts = create()
    counts.count([{ offset: 3, time: now - day, judged: [inside('10.0.0.1'), seen('192.0.2.1')] }], now)
    counts.count(
      [
        { offset: 7, time: now - 50, judged: [inside('10.0.0.2'), seen('192.0.2.1'), seen('a.example.com')] },
        { offset: 9, time: now - 90, judged: [inside('10.0.0.1'), seen('192.0.2.1')] },
      ],
      now,
    )
    expect(counts.seen(ip('192.0.2.1'))).toEqual({
      indicator: ip('192.0.2.1'),
      count: 3,
      first: now - day,
      last: now - 50,
      peers: ['10.0.0.1', '10.0.0.2'],
      otherSightings: 0,
      offsets: [3, 7, 9],
      traffic: [{ direction: 'unknown', action: 'unknown' }],
      kinds: [{ seen_as: 'called', action: 'unknown' }],
    })
    expect(counts.seen({ type: 'domain', value: 'a.example.com' })).toMatchObject({ count: 1, offsets: [7] })
    expect(counts.seen(ip('10.0.0.1'))).toBeUndefined()
    expect(counts.seen(ip('192.0.2.2'))).toBeUndefined()
  })

  it('keep the four lowest ports of an address, in any order and through a merge', () => {
    const at = (offset: number, destinationPort: number) => ({
      offset,
      time: now,
      judged: [inside('10.0.0.1'), seen('192.0.2.1')],
      around: { direction: 'outbound', action: 'allowed', sourcePort: 50_000, destinationPort } as const,
    })
    const [one, other] = [create(), create()]
    one.count([at(1, 8443), at(2, 443), at(3, 443), at(4, 65_535)], now)
    other.count([at(5, 22), at(6, 8080)], now)
    for (const { seen: counted, isChanged } of other.all()) one.add(counted, isChanged)
    expect(one.onDay(20_000, ip('192.0.2.1'))?.ports).toEqual([22, 443, 8080, 8443])
    expect([...one.unalerted(false)]).toEqual([
      { indicator: ip('192.0.2.1'), roles: ['destination'], ports: [22, 443, 8080, 8443] },
    ])
    const again = create()
    for (const { seen: counted } of one.all()) again.restore(counted)
    expect(again.unalertedOf(ip('192.0.2.1'))?.ports).toEqual([22, 443, 8080, 8443])
  })

  it("say that the port is not the server's where the password was right", () => {
    const counts = create()
    const login = { direction: 'inbound', action: 'allowed', activity: 'login', sourcePort: 50_000 } as const
    const judged = [seen('192.0.2.1', 'unknown', { role: 'source' })]
    counts.count([{ offset: 1, time: now, judged, around: login }], now)
    expect(counts.unalertedOf(ip('192.0.2.1'))?.ports).toEqual([anyPort])
  })

  it('keep every direction and action, also of the events of one record, and over days', () => {
    const counts = create()
    const event = (offset: number, time: number, direction: Direction, action: Action): void =>
      counts.count(
        [deliveredOf(offset, { time, judged: [seen('192.0.2.1')], summary: { direction, action } }, now)],
        now,
      )
    event(1, now - day, 'inbound', 'blocked')
    event(2, now, 'inbound', 'blocked')
    expect(counts.seen(ip('192.0.2.1'))?.traffic).toEqual([{ direction: 'inbound', action: 'blocked' }])
    const member = (direction: Direction, action: Action): Parameters<typeof deliveredOf>[1] => ({
      judged: [seen('192.0.2.1')],
      summary: { direction, action },
    })
    const members = [member('outbound', 'allowed'), member('internal', 'unknown')]
    counts.count([deliveredOf(3, { ...member('unknown', 'unknown'), judged: [], members }, now)], now)
    expect(counts.seen(ip('192.0.2.1'))?.traffic).toEqual([
      { direction: 'outbound', action: 'allowed' },
      { direction: 'inbound', action: 'blocked' },
      { direction: 'internal', action: 'unknown' },
    ])
  })

  it('keep what it was in its events and what became of them', () => {
    const counts = create()
    const event = (offset: number, role: Role, more: object): void =>
      counts.count(
        [
          deliveredOf(
            offset,
            {
              time: now,
              judged: [seen('192.0.2.1', 'unknown', { role })],
              summary: { direction: 'inbound', action: 'allowed' },
              ...more,
            },
            now,
          ),
        ],
        now,
      )
    event(1, 'source', { extraction: { destinationPort: 22 } })
    event(2, 'source', { summary: { direction: 'unknown', action: 'blocked', activity: 'login' } })
    event(3, 'claimed', {})
    expect(counts.seen(ip('192.0.2.1'))?.kinds).toEqual([
      { seen_as: 'login', action: 'blocked' },
      { seen_as: 'administration', action: 'allowed' },
      { seen_as: 'claimed', action: 'allowed' },
    ])
  })

  it('count an event once, however often it shows the indicator or is delivered', () => {
    const counts = create()
    const event = { offset: 5, time: now, judged: [seen('192.0.2.1'), seen('192.0.2.1', 'unknown', { role: 'other' })] }
    counts.count([event], now)
    counts.count([event], now)
    expect(counts.seen(ip('192.0.2.1'))?.count).toBe(1)
    expect(counts.unalertedOf(ip('192.0.2.1'))?.roles).toEqual(['destination', 'other'])
  })

  it('count every event of a record that holds several, each with its own inside hosts', () => {
    const counts = create()
    const members = [
      [inside('10.0.0.1'), seen('192.0.2.1'), seen('192.0.2.1', 'unknown', { role: 'other' })],
      [inside('10.0.0.2'), seen('192.0.2.2')],
      [inside('10.0.0.3'), seen('192.0.2.1')],
    ]
    const record = { offset: 5, time: now, judged: members.flat(), members }
    counts.count([record], now)
    counts.count([record], now)
    expect(counts.seen(ip('192.0.2.1'))).toMatchObject({ count: 2, peers: ['10.0.0.1', '10.0.0.3'] })
    expect(counts.seen(ip('192.0.2.2'))).toMatchObject({ count: 1, peers: ['10.0.0.2'] })
  })

  it('find every one of many addresses and names again, of both versions', () => {
    const counts = create()
    const values = Array.from({ length: 6_000 }, (_, n) =>
      n % 3 === 0
        ? `198.51.${(n >> 8) & 255}.${n & 255}`
        : n % 3 === 1
          ? `2001:db8::${n.toString(16)}`
          : `h${n}.example.com`,
    )
    values.forEach((value, offset) => counts.count([{ offset, time: now, judged: [seen(value)] }], now))
    for (const [offset, value] of values.entries()) {
      const found = counts.seen(seen(value).sighting)
      if (found?.count !== 1 || found.offsets[0] !== offset) expect.fail(`${value}: ${JSON.stringify(found)}`)
    }
    expect(counts.rows()).toBe(6_000)
    expect(new Set([...counts.unalerted(false)].map(({ indicator }) => indicator.value)).size).toBe(6_000)
  })

  it('list a bounded number of inside hosts and count the sightings by others', () => {
    const counts = create()
    for (let n = 0; n < maxPeers + 5; n++)
      counts.count([{ offset: n, time: now, judged: [inside(`10.0.0.${n}`), seen('192.0.2.1')] }], now)
    const found = counts.seen(ip('192.0.2.1'))
    expect(found?.peers).toHaveLength(maxPeers)
    expect(found?.otherSightings).toBe(5)
    expect(found?.count).toBe(maxPeers + 5)
  })

  it('know what was delivered as clean or unknown, but not what was delivered with a bad verdict', () => {
    const counts = create()
    const judged = [seen('192.0.2.1', 'clean'), seen('192.0.2.2', 'malicious'), seen('192.0.2.3', 'suspicious')]
    counts.count([{ offset: 1, time: now, judged }], now)
    counts.count(
      [
        {
          offset: 2,
          time: now,
          judged: [seen('192.0.2.4', 'malicious'), seen('192.0.2.4', 'clean', { role: 'other' })],
        },
      ],
      now,
    )
    expect([...counts.unalerted(true)]).toEqual([{ indicator: ip('192.0.2.1'), roles: ['destination'], ports: [] }])
    counts.alerted(ip('192.0.2.1'))
    expect([...counts.unalerted(true)]).toEqual([])
    counts.count([{ offset: 3, time: now, judged }], now)
    expect(counts.unalertedOf(ip('192.0.2.1'))?.roles).toEqual(['destination'])
  })

  it('take what was pending as unalerted once its answer accuses nobody', async () => {
    const counts = create()
    const bad: Finding = { status: 'known', facts: { flags: {}, categories: [] }, source: 's', at: now }
    const late = (finding: Finding): Partial<Judged> => ({ late: Promise.resolve(finding) })
    const judged = [
      seen('192.0.2.1', 'unknown', late({ status: 'unknown', reason: 'not_found' })),
      seen('192.0.2.2', 'unknown', late(bad)),
    ]
    counts.count([{ offset: 1, time: now, judged }], now)
    expect([...counts.unalerted(false)]).toEqual([])
    expect([...counts.unalerted(true)]).toHaveLength(2)
    await Promise.resolve()
    expect([...counts.unalerted(true)].map(({ indicator }) => indicator.value)).toEqual(['192.0.2.1'])
  })

  it('settle what was pending where it was added to, whether its answer comes before that or after it', async () => {
    const [past, live] = [create(), create()]
    const answers: ((finding: Finding) => void)[] = []
    const pending = (value: string): Judged =>
      seen(value, 'unknown', { late: new Promise<Finding>((resolve) => answers.push(resolve)) })
    past.count([{ offset: 1, time: now, judged: [pending('192.0.2.1'), pending('192.0.2.2')] }], now)
    past.addedTo(live)
    const rows = past.all()
    const addNext = (): void => {
      const next = rows.next()
      if (!next.done) live.add(next.value.seen, next.value.isChanged)
    }
    addNext()
    for (const answer of answers) answer({ status: 'unknown', reason: 'not_found' })
    await Promise.resolve()
    addNext()
    expect([...live.unalerted(false)].map(({ indicator }) => indicator.value)).toEqual(['192.0.2.1', '192.0.2.2'])
  })

  it('settle what was restored as pending by what its events are annotated with later', () => {
    const [past, counts] = [create(), create()]
    const never = new Promise<Finding>(() => undefined)
    const addresses = ['192.0.2.1', '192.0.2.2', '192.0.2.3']
    const judged = addresses.map((value) => seen(value, 'unknown', { late: never }))
    past.count([{ offset: 1, time: now, judged }], now)
    for (const { seen: row } of past.all()) counts.restore(row)
    const again = [
      seen('192.0.2.1', 'clean'),
      seen('192.0.2.2', 'malicious'),
      seen('192.0.2.3', 'unknown', { late: never }),
    ]
    counts.answered([{ offset: 1, time: now, judged: again }], now)
    expect([...counts.unalerted(false)].map(({ indicator }) => indicator.value)).toEqual(['192.0.2.1'])
    expect([...counts.unalerted(true)].map(({ indicator }) => indicator.value)).toEqual(['192.0.2.1', '192.0.2.3'])
  })

  it('keep 14 days, and take a time ahead of the clock for now', () => {
    const counts = create()
    counts.count([{ offset: 1, time: now - 14 * day, judged: [seen('192.0.2.1')] }], now)
    counts.count([{ offset: 2, time: now - 13 * day, judged: [seen('192.0.2.2')] }], now)
    counts.count([{ offset: 3, time: now + 400 * day, judged: [seen('192.0.2.3')] }], now)
    expect(counts.seen(ip('192.0.2.1'))).toBeUndefined()
    expect(counts.seen(ip('192.0.2.2'))?.count).toBe(1)
    expect(counts.seen(ip('192.0.2.3'))?.last).toBe(now)
    counts.count([], now + day)
    expect(counts.seen(ip('192.0.2.2'))).toBeUndefined()
  })

  it('give out what changed, once, and take it in elsewhere', () => {
    const counts = create()
    const judged = [inside('10.0.0.1'), inside('10.0.0.2'), seen('192.0.2.1', 'clean')]
    counts.count([{ offset: 9_000_000_000, time: now, judged }], now)
    const taken = [...counts.takeChanged()].map(({ day, indicator }) => counts.onDay(day, indicator) ?? expect.fail())
    expect(taken).toHaveLength(1)
    expect([...counts.takeChanged()]).toEqual([])
    const other = create()
    for (const row of taken) other.restore(row)
    for (const row of taken) other.restore(row)
    expect(other.seen(ip('192.0.2.1'))).toEqual(counts.seen(ip('192.0.2.1')))
    expect(other.unalertedOf(ip('192.0.2.1'))).toEqual(counts.unalertedOf(ip('192.0.2.1')))
    other.count([{ offset: 9_000_000_000, time: now, judged }], now)
    other.count([{ offset: 9_000_000_001, time: now, judged }], now)
    expect(other.seen(ip('192.0.2.1'))?.count).toBe(2)
    const past = {
      ...taken[0]!,
      firstOffset: 8_999_999_005,
      lastOffset: 8_999_999_008,
      count: 4,
      first: 1,
      last: 2,
      peers: ['10.0.0.3'],
    }
    other.add(past, false)
    expect(other.seen(ip('192.0.2.1'))).toMatchObject({
      count: 6,
      offsets: [8_999_999_005, 9_000_000_001],
      peers: ['10.0.0.1', '10.0.0.2', '10.0.0.3'],
    })
  })
})

describe('the counts of all partitions', () => {
  it('drop the oldest day first, and count what does not fit even then', () => {
    const all = countPartitions({ seed: 1, judge }, 4)
    const [first, second] = ['t/0', 't/1'].map((name) => all.open({ name }, () => expect.fail('nothing is written')))
    if (!first || !second) return expect.fail()
    const note = (partition: typeof first, time: number, value: string): void =>
      partition.counts().count([{ offset: 1, time, judged: [seen(value)] }], now)
    for (const value of ['192.0.2.1', '192.0.2.2']) note(first, now - day, value)
    for (const value of ['192.0.2.3', '192.0.2.4', '192.0.2.5']) note(second, now, value)
    expect(first.counts().seen(ip('192.0.2.1'))).toBeUndefined()
    note(first, now, '192.0.2.6')
    note(first, now, '192.0.2.7')
    expect(all.size()).toMatchObject({ rows: 4, evicted: 2, uncounted: 1 })
    second.close()
    note(first, now, '192.0.2.7')
    expect(all.size()).toMatchObject({ rows: 2, evicted: 2, uncounted: 1 })
  })
})
