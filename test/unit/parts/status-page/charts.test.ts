// The charts of the status page: what they are about, for how long, and what they say in words.
import { describe, expect, it } from 'vitest'
import { chartNodes } from '../../../../src/parts/status-page/content/charts.js'
import { toHtml } from '../../../../src/parts/status-page/markup/node.js'
import { createOldestEvent } from '../../../../src/parts/status-page/state/oldest-event.js'
import type { Point } from '../../../../src/parts/status-page/state/history.js'

const minute = 60_000
const now = Date.parse('2026-11-19T12:00:00Z')
const pointAt = (at: number, over: Partial<Point> = {}): Point => ({
  at,
  requestsPerSecond: 3,
  eventsPerSecond: 120,
  hitsPerSecond: 100,
  callsPerSecond: 2,
  creditsPerMinute: 60,
  alerts: {},
  oldestMs: 40,
  ...over,
})
const shown = (kind: 'pipeline' | 'server', points: readonly Point[], upMs: number): string =>
  chartNodes(kind, points, upMs, now).map(toHtml).join('')

describe('the charts', () => {
  it.each([
    [30_000, 'The last 2 minutes'],
    [4 * minute, 'The last 5 minutes'],
    [40 * minute, 'The last hour'],
    [1000 * minute, 'The last hour'],
  ])('show the time that there is, up to an hour: %i ms', (upMs, title) => {
    expect(shown('pipeline', [pointAt(now)], upMs)).toContain(`<h2>${title}`)
  })

  it('say in words what they show', () => {
    const points = [
      pointAt(now - 20_000, { eventsPerSecond: 300, alerts: { high: 2 }, oldestMs: 12_000 }),
      pointAt(now - 10_000, { alerts: { high: 1, low: 4 } }),
      pointAt(now),
    ]
    const html = shown('pipeline', points, minute)
    expect(html).toContain('120 events/s')
    expect(html).toContain('highest 300 events/s at 11:59:40 UTC, mean 180 events/s')
    expect(html).toContain('3 high, 4 low')
    expect(html).toContain('100/s from memory, 2.0/s asked')
    expect(html).toContain('highest 12 s at 11:59:40 UTC')
    expect(html).toContain('11:59 to 11:59:40 UTC: 2 high')
  })

  it('say that nothing was delivered, instead of an age of zero', () => {
    expect(shown('pipeline', [pointAt(now, { oldestMs: undefined })], minute)).toContain('nothing was delivered')
  })

  it('are about requests and credits at a gateway', () => {
    const html = shown('server', [pointAt(now)], minute)
    expect(html).toContain('3.0 requests/s')
    expect(html).toContain('60 credits/min')
    expect(html).not.toContain('Alerts by level')
  })
})

describe('the age of the oldest event', () => {
  const chunk = { event: 'chunk_delivered', topic: 'firewall', partition: 0, events: 1 } as const
  it('is the highest since the last look', () => {
    const { emit, take } = createOldestEvent()
    emit({ ...chunk, oldestMs: 50 })
    emit({ ...chunk, oldestMs: 70 })
    emit({ ...chunk, oldestMs: 60 })
    expect([take(), take()]).toEqual([70, undefined])
  })

  it('believes no time that a producer made up', () => {
    const { emit, take } = createOldestEvent()
    emit({ ...chunk, oldestMs: now })
    emit({ ...chunk, oldestMs: -5000 })
    emit({ ...chunk, oldestMs: NaN })
    expect(take()).toBeUndefined()
  })
})
