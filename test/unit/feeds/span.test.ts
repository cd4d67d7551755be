import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseSpan, prefixesOf } from '../../../src/feeds/span.js'

describe('prefixesOf', () => {
  it('covers a span with as few prefixes as there can be', () => {
    const span = parseSpan('192.0.2.1-192.0.2.8')
    expect(span && prefixesOf(span).map(({ first, last }) => [Number(first) & 255, Number(last) & 255])).toEqual([
      [1, 1],
      [2, 3],
      [4, 7],
      [8, 8],
    ])
  })

  it('covers every address as one', () => {
    expect(prefixesOf({ first: 0, last: 0xffffffff })).toEqual([{ version: 4, first: 0, last: 0xffffffff }])
  })

  it('leaves no gap, overlaps nowhere, and is made of prefixes', () => {
    const address = fc.integer({ min: 0, max: 0xffffffff })
    fc.assert(
      fc.property(address, address, (a, b) => {
        const span = { first: Math.min(a, b), last: Math.max(a, b) }
        let next = span.first
        const prefixes = prefixesOf(span)
        for (const { first, last } of prefixes as { first: number; last: number }[]) {
          expect(first).toBe(next)
          const size = last - first + 1
          expect(Number.isInteger(Math.log2(size))).toBe(true)
          expect(first % size).toBe(0)
          next = last + 1
        }
        expect(next - 1).toBe(span.last)
        expect(prefixes.length).toBeLessThanOrEqual(62)
      }),
    )
  })
})
