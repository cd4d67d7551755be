// The last hour as the status page keeps it.
import { describe, expect, it } from 'vitest'
import { drawChart } from '../../../src/status-page/chart.js'
import { createHistory, type Sample } from '../../../src/status-page/history.js'
import { headline, providerSentence } from '../../../src/status-page/sentences.js'
import { openProvider, runningConsumer } from '../../support/ops.js'

const sampleAt = (second: number, perSecond: number): Sample => ({
  at: second * 1000,
  requests: 0,
  read: second * perSecond,
  indicators: 0,
  lookups: second * 10,
  hits: second * 9,
  calls: second,
  credits: second * 2,
  annotated: second * perSecond,
  delivered: 0,
  lag: second,
  reasons: { pending: second },
})

describe('history', () => {
  it('has rates of the last seconds, reasons of the last minute and a point every half minute, for an hour', () => {
    let second = 0
    const history = createHistory(() => sampleAt(second, 100))
    while (second < 2 * 3600) {
      second++
      history.tick()
    }
    expect(history.rate('read')).toBe(100)
    expect(history.hitRatio()).toBeCloseTo(0.9)
    expect(history.lastMinute('pending')).toBe(60)
    expect(history.lastMinute('deadline')).toBe(0)
    expect(history.points()).toHaveLength(120)
    expect(history.points().at(-1)).toMatchObject({
      eventsPerSecond: 100,
      lag: 7200,
      hitRatio: 0.9,
      callsPerMinute: 60,
      creditsPerMinute: 120,
    })
  })

  it('keeps extremes that are never below the current rate, nor above the current hit ratio', () => {
    let second = 0
    let annotated = 0
    let hits = 0
    // A burst of seconds without a hit within half a minute that was quiet and full of hits.
    const history = createHistory(() => ({ ...sampleAt(second, 0), annotated, hits }))
    while (second < 65) {
      second++
      const isBurst = second >= 60
      annotated += isBurst ? 162 : 1
      hits += isBurst ? 0 : 10
      history.tick()
      const extremes = history.points().map((point) => point.extremes)
      expect(Math.max(...extremes.map((one) => one.eventsPerSecond))).toBeGreaterThanOrEqual(history.rate('annotated'))
      expect(Math.min(...extremes.map(({ hitRatio }) => hitRatio ?? 1))).toBeLessThanOrEqual(history.hitRatio() ?? 1)
    }
    expect(history.rate('annotated')).toBe(162)
    expect(history.hitRatio()).toBe(0)
  })

  it('has no rate and no ratio before anything happened', () => {
    const history = createHistory(() => sampleAt(0, 0))
    history.tick()
    expect([history.rate('read'), history.hitRatio(), history.points()]).toEqual([0, undefined, []])
  })
})

describe('a chart', () => {
  it('ends at the right edge and goes from its bottom to its top', () => {
    expect(drawChart('x', [0, 5, 10])).toEqual({
      'line-x': 'M236.0 53.0L238.0 28.0L240.0 3.0',
      'area-x': 'M236.0 53.0L238.0 28.0L240.0 3.0L240.0 56L236.0 56Z',
    })
  })

  it.each<[string, readonly (number | undefined)[], string]>([
    ['nothing', [], ''],
    ['only gaps', [undefined, undefined], ''],
    ['one value', [1], 'M240.0 3.0h-2'],
    ['zeros', [0, 0], 'M238.0 53.0L240.0 53.0'],
    ['a gap', [1, undefined, 1], 'M236.0 3.0L240.0 3.0'],
  ])('of %s is drawn', (_, values, line) => {
    expect(drawChart('x', values)['line-x']).toBe(line)
  })
})

describe('sentences', () => {
  const calm = {
    kind: 'pipeline' as 'pipeline' | 'server',
    health: { ok: true, problems: [] },
    provider: openProvider,
    consumer: runningConsumer(1000),
    missingFeeds: [] as string[],
    hasFeeds: false,
    lag: 12,
    now: 1000,
    perSecond: 5,
  }
  it.each<[string, Partial<typeof calm> | { provider: undefined }, string]>([
    ['everything works', {}, 'Working: 5.0 events/s.'],
    [
      'there is neither feed nor provider',
      { provider: undefined },
      'Events are delivered without any intelligence: there is no feed and no provider.',
    ],
    ['there are no events', { perSecond: 0 }, 'Working: waiting for events.'],
    ['a gateway works', { kind: 'server' }, 'Working: 5.0 requests/s.'],
    [
      'a feed is missing',
      { missingFeeds: ['urlhaus'] },
      'Nothing of urlhaus is in use: what no other feed lists is unknown (feed missing), never clean.',
    ],
    [
      'it is stuck',
      { health: { ok: false, problems: ['the consumer has stopped'] } } as never,
      'Restart needed: the consumer has stopped.',
    ],
    [
      'the brokers do not answer',
      { now: 61_000 },
      '12 events are waiting and none was delivered for 60 s: are the brokers reachable?',
    ],
    [
      'the provider does not answer',
      { provider: { ...openProvider, state: 'breaker_open' } },
      'Events are delivered, but indicators that are not in memory come out as unknown.',
    ],
  ])('when %s', (_, over, text) => {
    expect(headline({ ...calm, ...over }).text).toBe(text)
  })

  it.each([
    [undefined, 'No provider: local feeds only.'],
    [
      { ...openProvider, state: 'stopped', reason: 'bad_key', until: 31_000 },
      'Provider refuses our calls (bad key), retry in 30 s.',
    ],
    [
      { ...openProvider, state: 'paused', reason: 'throttled', until: 3_000 },
      'Provider paused: it asked us to slow down (throttled), retry in 2 s.',
    ],
    [
      { ...openProvider, budgetSpentUntil: 3_601_000 },
      'The default budget of 1000 calls a day is spent (admit.perDay): no calls for 60 min.',
    ],
  ] as const)('the provider: %j', (provider, text) => {
    expect(providerSentence(provider, { hour: 0, day: 1000, isDefault: true }, 1000).text).toBe(text)
  })
})
