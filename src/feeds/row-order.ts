// Radix-sorts row numbers by the unsigned words of their keys: a million rows in tens of milliseconds.
import { scratchWords } from './columns.js'

/** Below this, digits are single bytes: clearing and summing 65,536 counters would take longer than sorting the rows. */
const fewRows = 1 << 12

/** `words` holds `stride` words per row, most significant first. The sort is stable. */
export const rowOrder = (count: number, words: Uint32Array, stride: number): Uint32Array => {
  let order = scratchWords(count)
  for (let row = 0; row < count; row++) order[row] = row
  if (count < 2) return order
  let next = scratchWords(count)
  const bits = count < fewRows ? 8 : 16
  const digits = 1 << bits
  const digit = (at: number, shift: number): number => ((words[at] ?? 0) >>> shift) & (digits - 1)
  const counts = new Uint32Array(digits)
  for (let word = stride - 1; word >= 0; word--)
    for (let shift = 0; shift < 32; shift += bits) {
      counts.fill(0)
      for (let row = 0; row < count; row++) {
        const at = digit(row * stride + word, shift)
        counts[at] = (counts[at] ?? 0) + 1
      }
      if (counts[digit(word, shift)] === count) continue // all rows have the same digit
      let sum = 0
      for (let i = 0; i < digits; i++) {
        const here = counts[i] ?? 0
        counts[i] = sum
        sum += here
      }
      for (let i = 0; i < count; i++) {
        const row = order[i] ?? 0
        const at = digit(row * stride + word, shift)
        const place = counts[at] ?? 0
        next[place] = row
        counts[at] = place + 1
      }
      ;[order, next] = [next, order]
    }
  return order
}
