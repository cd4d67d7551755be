import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { splitByCountAndBytes } from '../../../src/delivery/deliver.js'

describe('parts of a list', () => {
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
