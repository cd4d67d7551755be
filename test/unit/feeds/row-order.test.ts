import { expect, it } from 'vitest'
import { rowOrder } from '../../../src/feeds/row-order.js'

const compare = (words: Uint32Array, stride: number) => (one: number, other: number) => {
  for (let word = 0; word < stride; word++) {
    const difference = (words[one * stride + word] ?? 0) - (words[other * stride + word] ?? 0)
    if (difference !== 0) return difference
  }
  return one - other
}

// From 4,096 rows on by larger digits.
it.each([0, 1, 2, 300, 4_095, 4_096, 5_000])(
  'sorts %i rows by all words of their keys, equal ones as they came',
  (count) => {
    for (const stride of [2, 5]) {
      // Many keys share their first words, and some are equal; all four bytes of a word occur.
      const words = Uint32Array.from(
        { length: count * stride },
        (_, at) => Math.imul((at * 7_919) % 61, 0x9e3779b1) >>> 0,
      )
      const rows = Array.from({ length: count }, (_, row) => row)
      expect([...rowOrder(count, words, stride)]).toEqual(rows.toSorted(compare(words, stride)))
    }
  },
)
