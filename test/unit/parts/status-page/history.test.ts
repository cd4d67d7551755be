// The last hour as the status page keeps it.
import { describe, expect, it } from 'vitest'
import { createHistory, type Sample } from '../../../../src/parts/status-page/state/history.js'

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
  alerts: { high: Math.floor(second / 5) },
  oldestMs: second % 2 === 0 ? undefined : second,
  reasons: { pending: second },
})

describe('history', () => {
  it('has rates of the last seconds, reasons of the last minute and a point every ten seconds, for an hour', () => {
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
    expect(history.points()).toHaveLength(360)
    expect(history.points().at(-1)).toMatchObject({
      at: 7_200_000,
      eventsPerSecond: 100,
      hitsPerSecond: 9,
      callsPerSecond: 1,
      creditsPerMinute: 120,
      alerts: { high: 2, low: 0 },
      oldestMs: 7199,
    })
  })

  it('has a first impression before the first ten seconds are over', () => {
    let second = 0
    const history = createHistory(() => sampleAt(second, 100))
    second = 3
    history.tick()
    expect(history.points()).toMatchObject([{ at: 3000, eventsPerSecond: 100, oldestMs: 3 }])
  })

  it('has no rate and no ratio before anything happened', () => {
    const history = createHistory(() => sampleAt(0, 0))
    history.tick()
    expect([history.rate('read'), history.hitRatio(), history.points()]).toEqual([0, undefined, []])
  })
})
