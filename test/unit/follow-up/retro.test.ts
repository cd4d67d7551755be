import { describe, expect, it } from 'vitest'
import type { Known } from '../../../src/domain/finding.js'
import type { Indicator } from '../../../src/domain/indicator.js'
import type { Judged } from '../../../src/domain/verdict.js'
import { countPartitions, type CountedPartition, type OpenCounts } from '../../../src/follow-up/count-partitions.js'
import {
  createRetro,
  maxRetroAlerts,
  type Retro,
  type RetroAlerts,
  type RetroConnections,
  type RetroOptions,
} from '../../../src/follow-up/retro.js'

const now = Date.UTC(2026, 10, 15, 12)
const bad: Known = { status: 'known', facts: { flags: {}, categories: [] }, source: 'feed:x', at: now }
const verdict = { level: 'malicious', flags: {}, because: 'listed' } as const

const indicatorOf = (value: string): Indicator => ({ type: /^[\d.]+$/.test(value) ? 'ip' : 'domain', value })
const clean = (value: string): Judged => ({
  sighting: { ...indicatorOf(value), field: 'f', role: 'destination', evidence: 'field' },
  decision: { decision: 'lookup', ask: indicatorOf(value) },
  verdict: { level: 'clean', flags: {}, because: '' },
})

type Stage = {
  /** The counts of a partition, opened when it is named first. */
  readonly of: (partition: string) => OpenCounts
  readonly retro: Retro
  readonly listed: Set<string>
  readonly written: { readonly partition: string; readonly alerts: RetroAlerts }[]
  /** Partitions that noted what a summary of another one is about, with how many summaries were written before. */
  readonly marked: (readonly [partition: string, summaries: number])[]
}

const stage = (more: Partial<RetroOptions & RetroConnections> = {}): Stage => {
  const counts = countPartitions({ seed: 1, judge: () => verdict })
  const opened = new Map<string, OpenCounts>()
  const of = (partition: string): OpenCounts => {
    const mark: CountedPartition['writeAlerts'] = (alerts, about) => {
      marked.push([partition, written.filter(({ alerts: { summarised } }) => summarised.length > 0).length])
      expect(alerts).toEqual([])
      for (const indicator of about) open.counts().alerted(indicator)
      return Promise.resolve('written')
    }
    const open = opened.get(partition) ?? counts.open({ name: partition }, mark)
    opened.set(partition, open)
    return open
  }
  const marked: [string, number][] = []
  const listed = new Set<string>()
  const written: { partition: string; alerts: RetroAlerts }[] = []
  const retro = createRetro({
    partitions: counts.all,
    judge: () => verdict,
    turn: () => Promise.resolve(),
    pause: () => Promise.resolve(),
    emit: () => undefined,
    now: () => now,
    standsMs: 60_000,
    ...more,
  })
  retro.start({
    match: ({ value }) => (listed.has(value) ? bad : undefined),
    ruleFor: () => ({ rule: { id: 'a', level: 'high' }, isSummarised: false }),
    askedFor: (indicator) => (indicator.type === 'ip' ? indicator : { type: 'domain', value: 'example.com' }),
    write: (counted, alerts) => {
      written.push({ partition: counted.name, alerts })
      markAlerted(counted, alerts)
      return Promise.resolve('written')
    },
    ...more,
  })
  return { of, retro, listed, written, marked }
}

const markAlerted = (counted: CountedPartition, { hits, summarised }: RetroAlerts): void => {
  for (const hit of [...hits, ...summarised]) if (hit.counted === counted) counted.counts().alerted(hit.indicator)
}

const valuesIn = ({ written }: Stage): string[] =>
  written.flatMap(({ partition, alerts }) =>
    alerts.hits.map((hit) => `${partition} ${hit.indicator.value} ${hit.seen.count}`),
  )

describe('retro alerts', () => {
  it('are raised once per partition for what a feed turns malicious on, and for nothing else', async () => {
    const all = stage()
    all
      .of('t/0')
      .counts()
      .count([{ offset: 1, time: now, judged: [clean('192.0.2.1'), clean('192.0.2.2')] }], now)
    all
      .of('t/1')
      .counts()
      .count([{ offset: 1, time: now, judged: [clean('192.0.2.1')] }], now)
    all
      .of('t/1')
      .counts()
      .count([{ offset: 2, time: now, judged: [clean('192.0.2.1')] }], now)
    all.listed.add('192.0.2.1')
    all.retro.feedsChanged()
    await all.retro.idle()
    expect(valuesIn(all)).toEqual(['t/1 192.0.2.1 2', 't/0 192.0.2.1 1'])
    all.retro.feedsChanged()
    await all.retro.idle()
    expect(all.written).toHaveLength(2)
  })

  it('follow from an answer about an address, and from one about a domain for the names below it', async () => {
    const all = stage()
    const judged = ['192.0.2.1', '192.0.2.2', 'a.example.com', 'b.example.com', 'example.com.test'].map(clean)
    all
      .of('t/0')
      .counts()
      .count([{ offset: 1, time: now, judged }], now)
    all.retro.answered(indicatorOf('192.0.2.2'), bad)
    all.retro.answered(indicatorOf('example.com'), bad)
    await all.retro.idle()
    expect(valuesIn(all)).toEqual(['t/0 192.0.2.2 1', 't/0 a.example.com 1', 't/0 b.example.com 1'])
  })

  it('are raised once where a feed and the provider turn malicious on it at the same time', async () => {
    const all = stage()
    all
      .of('t/0')
      .counts()
      .count([{ offset: 1, time: now, judged: [clean('192.0.2.1')] }], now)
    all.listed.add('192.0.2.1')
    all.retro.feedsChanged()
    all.retro.answered(indicatorOf('192.0.2.1'), bad)
    await all.retro.idle()
    expect(valuesIn(all)).toEqual(['t/0 192.0.2.1 1'])
  })

  it('follow from what a feed and the provider said before the counts were restored', async () => {
    const clock = { at: now }
    const all = stage({ now: () => clock.at })
    all.listed.add('192.0.2.1')
    all.retro.feedsChanged()
    // The provider has said otherwise since, maybe.
    all.retro.answered(indicatorOf('192.0.2.3'), bad)
    clock.at += 60_000
    // A gateway passes on what it was told long ago.
    all.retro.answered(indicatorOf('192.0.2.2'), { ...bad, at: now - 3_600_000 })
    await all.retro.idle()
    const judged = ['192.0.2.1', '192.0.2.2', '192.0.2.3'].map(clean)
    all
      .of('t/0')
      .counts()
      .count([{ offset: 1, time: now, judged }], now)
    all.retro.restored()
    await all.retro.idle()
    expect(valuesIn(all).toSorted()).toEqual(['t/0 192.0.2.1 1', 't/0 192.0.2.2 1'])
  })

  it('that cannot be made are reported, not silently missing', async () => {
    const reported: unknown[] = []
    const all = stage({ write: () => Promise.reject(new Error('a bug')), emit: (event) => void reported.push(event) })
    all
      .of('t/0')
      .counts()
      .count([{ offset: 1, time: now, judged: [clean('192.0.2.1')] }], now)
    all.listed.add('192.0.2.1')
    all.retro.feedsChanged()
    await all.retro.idle()
    expect(reported).toEqual([{ event: 'follow_up_failed', what: 'retro alerts', cause: 'a bug' }])
  })

  it('are at most 100 per change, of what was seen most, and one summary', async () => {
    const all = stage()
    for (let n = 0; n < 250; n++) {
      const value = `198.51.100.${n}`
      all.listed.add(value)
      for (let times = 0; times <= (n === 249 ? 1 : 0); times++)
        all
          .of(`t/${n % 2}`)
          .counts()
          .count([{ offset: 2 * n + times, time: now, judged: [clean(value)] }], now)
    }
    all.retro.feedsChanged()
    await all.retro.idle()
    expect(valuesIn(all)).toHaveLength(maxRetroAlerts)
    expect(valuesIn(all)).toContain('t/1 198.51.100.249 2')
    expect(all.written.map(({ alerts }) => alerts.summarised.length).toSorted()).toEqual([0, 150])
    // The other partition notes them after that.
    expect(all.marked).toEqual([['t/1', 1]])
    all.retro.feedsChanged()
    await all.retro.idle()
    expect(valuesIn(all)).toHaveLength(maxRetroAlerts)
  })

  it('follow the rule that applies: its own alert, only a summary, or none', async () => {
    const reported: unknown[] = []
    const all = stage({
      ruleFor: ({ indicator: { value } }) =>
        value === '192.0.2.3'
          ? undefined
          : { rule: { id: value, level: value === '192.0.2.1' ? 'high' : 'low' }, isSummarised: value !== '192.0.2.1' },
      emit: (event) => void reported.push(event),
    })
    const values = ['192.0.2.1', '192.0.2.2', '192.0.2.3']
    all
      .of('t/0')
      .counts()
      .count([{ offset: 1, time: now, judged: values.map(clean) }], now)
    for (const value of values) all.listed.add(value)
    all.retro.feedsChanged()
    await all.retro.idle()
    expect(valuesIn(all)).toEqual(['t/0 192.0.2.1 1'])
    expect(all.written[0]?.alerts.summarised.map(({ indicator }) => indicator.value)).toEqual(['192.0.2.2'])
    expect(reported).toEqual([{ event: 'retro_alerts_raised', alerts: 1, summarised: 1, levels: ['high', 'low'] }])
  })

  it('are repeated until they are written, and dropped with their partition', async () => {
    const answers = ['too_early', 'too_early', 'written'] as const
    let calls = 0
    const all = stage({
      write: ({ name }) => {
        if (name === 't/1') {
          all.of(name).close()
          return Promise.resolve('too_early')
        }
        return Promise.resolve(answers[calls++] ?? 'refused')
      },
    })
    for (const name of ['t/0', 't/1'])
      all
        .of(name)
        .counts()
        .count([{ offset: 1, time: now, judged: [clean('192.0.2.1')] }], now)
    all.listed.add('192.0.2.1')
    all.retro.feedsChanged()
    await all.retro.idle()
    expect(calls).toBe(3)
  })

  it('are dropped with counts that begin anew meanwhile', async () => {
    let calls = 0
    const all = stage({
      write: ({ name }) => {
        calls++
        all.of(name).beginAnew()
        return Promise.resolve('too_early')
      },
    })
    all
      .of('t/0')
      .counts()
      .count([{ offset: 1, time: now, judged: [clean('192.0.2.1')] }], now)
    all.listed.add('192.0.2.1')
    all.retro.feedsChanged()
    await all.retro.idle()
    expect(calls).toBe(1)
  })

  it('are summarised with another partition where the one with the summary is lost before it is written', async () => {
    const summaries: string[][] = []
    const all = stage({
      write: (counted, alerts) => {
        const { summarised } = alerts
        if (summarised.length > 0) summaries.push([counted.name, ...new Set(summarised.map((hit) => hit.partition))])
        if (summaries.length !== 1) {
          markAlerted(counted, alerts)
          return Promise.resolve('written')
        }
        all.of(counted.name).close()
        return Promise.resolve('too_early')
      },
    })
    for (let n = 0; n < 4 * maxRetroAlerts; n++) {
      const value = `198.51.${n >> 8}.${n & 255}`
      all.listed.add(value)
      all
        .of(`t/${n % 4}`)
        .counts()
        .count([{ offset: n, time: now, judged: [clean(value)] }], now)
    }
    all.retro.feedsChanged()
    await all.retro.idle()
    expect(summaries).toEqual([
      ['t/1', 't/1', 't/2', 't/3'],
      ['t/2', 't/2', 't/3'],
    ])
    expect(['t/0', 't/2', 't/3'].flatMap((name) => [...all.of(name).counts().unalerted(true)])).toEqual([])
  })

  it('reach events that were annotated before a change and committed after it', async () => {
    const all = stage()
    const version = all.retro.version()
    all.listed.add('192.0.2.1')
    all.retro.feedsChanged()
    all.retro.answered(indicatorOf('192.0.2.2'), bad)
    await all.retro.idle()
    all
      .of('t/0')
      .counts()
      .count([{ offset: 1, time: now, judged: [clean('192.0.2.1'), clean('192.0.2.2')] }], now)
    all.retro.committed(version)
    await all.retro.idle()
    expect(valuesIn(all).sort()).toEqual(['t/0 192.0.2.1 1', 't/0 192.0.2.2 1'])
  })
})
