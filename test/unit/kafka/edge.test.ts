// Where a replay begins and ends.
import { describe, expect, it } from 'vitest'
import { parseEdge } from '../../../src/kafka/edge.js'

const now = Date.parse('2026-11-15T12:00:00Z')
const time = (text: string): object => ({ kind: 'time', time: Date.parse(text) })

describe('an edge of a range', () => {
  it.each([
    ['earliest', { kind: 'earliest' }],
    ['now', { kind: 'now' }],
    ['0', { kind: 'offset', offset: 0 }],
    ['1234567', { kind: 'offset', offset: 1_234_567 }],
    ['2026-11-09', time('2026-11-09T00:00:00Z')],
    ['2026-11-09T08:00', time('2026-11-09T08:00:00Z')],
    ['2026-11-09 08:00:00', time('2026-11-09T08:00:00Z')],
    ['2026-11-09T08:00:00.250Z', time('2026-11-09T08:00:00.250Z')],
    ['2026-11-09T08:00:00+01:00', time('2026-11-09T07:00:00Z')],
    ['90m', time('2026-11-15T10:30:00Z')],
    ['24h', time('2026-11-14T12:00:00Z')],
    ['7d', time('2026-11-08T12:00:00Z')],
  ])('is read from %s', (text, edge) => {
    expect(parseEdge(text, now)).toEqual(edge)
  })

  it.each(['', 'yesterday', '-5', '1.5', '2026-13-40', '2026-11-09T25:00:00Z', '7y', '9'.repeat(16), '2026-11-09T08'])(
    'is refused as %j',
    (text) => {
      expect(parseEdge(text, now)).toBeUndefined()
    },
  )
})
