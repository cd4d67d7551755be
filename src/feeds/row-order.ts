// Sorts row numbers by the unsigned words of their keys: a radix sort, for a million rows in tens of milliseconds.
import { scratchWords } from './columns.js'

const digits = 1 << 16

/** `words` of `stride` per row, most significant first; equal keys keep their order. */
export const rowOrder = (count: number, words: Uint32Array, stride: number): Uint32Array => {
  let order = scratchWords(count)
  for (let row = 0; row < count; row++) order[row] = row
  let next = scratchWords(count)
  const counts = new Uint32Array(digits)
  for (let word = stride - 1; word >= 0; word--)
    for (const shift of [0, 16]) {
      counts.fill(0)
      for (let row = 0; row < count; row++) {
        const at = digit(words, row * stride + word, shift)
        counts[at] = (counts[at] ?? 0) + 1
      }
      if (count > 0 && counts[digit(words, word, shift)] === count) continue // all alike
      let sum = 0
      for (let i = 0; i < digits; i++) {
        const here = counts[i] ?? 0
        counts[i] = sum
        sum += here
      }
      for (let i = 0; i < count; i++) {
        const row = order[i] ?? 0
        const at = digit(words, row * stride + word, shift)
        const place = counts[at] ?? 0
        next[place] = row
        counts[at] = place + 1
      }
      ;[order, next] = [next, order]
    }
  return order
}

const digit = (words: Uint32Array, at: number, shift: number): number => ((words[at] ?? 0) >>> shift) & 0xffff
