import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Incoming } from '../../../src/kafka/compose.js'
import { splitByCountAndBytes, startChunks } from '../../../src/kafka/work.js'
import type { Pipeline } from '../../../src/pipeline/pipeline.js'

describe('chunks', () => {
  it('keep the order, lose nothing, and keep to their bounds unless one item alone is larger', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat({ max: 100 })),
        fc.integer({ min: 1, max: 10 }),
        fc.integer({ min: 1, max: 150 }),
        (items, count, bytes) => {
          const parts = splitByCountAndBytes(items, (item) => item, { count, bytes })
          expect(parts.flat()).toEqual(items)
          for (const part of parts) {
            expect(part.length).toBeGreaterThan(0)
            expect(part.length).toBeLessThanOrEqual(count)
            if (part.length > 1) expect(part.reduce((sum, item) => sum + item, 0)).toBeLessThanOrEqual(bytes)
          }
        },
      ),
    )
  })
})

describe('a chunk of a partition that is behind', () => {
  const records = Array.from({ length: 200 }, (_, place): Incoming => {
    const value = place === 70 ? null : Buffer.from(String(place))
    return { topic: 'in', partition: 0, offset: String(place), timestamp: '1', key: null, value, headers: [] }
  })
  it.each([
    ['at once', (out: unknown[]) => out],
    ['later', (out: unknown[]) => Promise.resolve(out)],
  ])(
    'comes in small parts, in order and each used before the next is made, when the line answers %s',
    async (_, give) => {
      const log: string[] = []
      const pipeline = ((events: readonly { bytes: Buffer }[]) => {
        log.push(`made ${events.length}`)
        return give(events.map(({ bytes }) => ({ text: bytes.toString() })))
      }) as unknown as Pipeline
      const [chunk] = startChunks(records, pipeline, true, { count: 500, bytes: 1_000_000 })
      const seen: (string | undefined)[] = []
      await chunk?.inParts?.((part, events) => {
        log.push(`used ${part.length}`)
        for (const event of events) seen.push((event as unknown as { text: string } | undefined)?.text)
      })
      expect(log).toEqual(['made 64', 'used 64', 'made 63', 'used 64', 'made 64', 'used 64', 'made 8', 'used 8'])
      expect(seen).toEqual(records.map(({ value }) => value?.toString()))
    },
  )
  it('is not in parts where the lookups of all its events are to start together', () => {
    const [chunk] = startChunks(records, () => [], false, { count: 500, bytes: 1_000_000 })
    expect(chunk?.inParts).toBeUndefined()
  })
})
