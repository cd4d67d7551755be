// Names in one buffer with an open-addressing hash table: finds the longest listed suffix in one pass from the right.
import {
  type Column,
  type DetailArrays,
  type DetailColumns,
  isCurrent,
  pickDetails,
  scratchWords,
  strongerOf,
  words,
} from './columns.js'

/** The hash step for names and URLs, one character at a time. */
export const step = (hash: number, code: number): number => Math.imul(hash ^ code, 0x01000193) ^ (hash >>> 15)

export const finish = (hash: number): number => {
  const once = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35)
  return (twice ^ (twice >>> 16)) >>> 0
}

export type NameTable = DetailArrays & {
  /** All names, concatenated. */
  readonly text: Uint8Array<ArrayBuffer>
  /** The start of each name in `text`, plus the end of the last one. */
  readonly offsets: Uint32Array<ArrayBuffer>
  /** Row + 1 at the slot of its hash or after it; 0 is empty. The length is a power of two, at most half full. */
  readonly slots: Uint32Array<ArrayBuffer>
  /** Random per load, so that a crafted feed cannot make all names collide. */
  readonly seed: number
}

export type NameColumns = DetailColumns & {
  readonly text: Column<Uint8Array<ArrayBuffer>>
  readonly offsets: Column<Uint32Array<ArrayBuffer>>
}

const dot = 46

export const buildNameTable = (columns: NameColumns, seed: number): NameTable => {
  const text = columns.text.values()
  const starts = columns.offsets.values()
  const count = starts.length
  const endOf = (row: number): number => starts[row + 1] ?? text.length
  const slots = words(2 ** Math.ceil(Math.log2(Math.max(count, 1) * 2)))
  const mask = slots.length - 1
  const rows = scratchWords(count)
  let length = 0
  let size = 0
  for (let row = 0; row < count; row++) {
    const start = starts[row] ?? 0
    const end = endOf(row)
    let hash = seed
    for (let i = end - 1; i >= start; i--) hash = step(hash, text[i] ?? 0)
    let slot = finish(hash) & mask
    for (;;) {
      const at = slots[slot] ?? 0
      if (at === 0) {
        rows[length++] = row
        slots[slot] = length
        size += end - start
        break
      }
      const other = rows[at - 1] ?? 0
      if (isSame(text, start, end, starts[other] ?? 0, endOf(other))) {
        rows[at - 1] = strongerOf(columns, other, row)
        break
      }
      slot = (slot + 1) & mask
    }
  }
  const kept = rows.subarray(0, length)
  const packed = new Uint8Array(size)
  const offsets = words(length + 1)
  let at = 0
  for (let i = 0; i < length; i++) {
    const row = kept[i] ?? 0
    packed.set(text.subarray(starts[row], endOf(row)), at)
    at += endOf(row) - (starts[row] ?? 0)
    offsets[i + 1] = at
  }
  return { text: packed, offsets, slots, seed, ...pickDetails(columns, kept) }
}

const isSame = (text: Uint8Array, start: number, end: number, otherStart: number, otherEnd: number): boolean => {
  if (end - start !== otherEnd - otherStart) return false
  for (let i = start, j = otherStart; i < end; i++, j++) if (text[i] !== text[j]) return false
  return true
}

/** The row of the longest listed suffix that is valid now, or -1. The name must be normalized. */
export const findName = (table: NameTable, name: string, nowSeconds: number): number => {
  const { text, offsets, slots, seed } = table
  if (offsets.length === 1) return -1
  const mask = slots.length - 1
  let found = -1
  let hash = seed
  for (let i = name.length - 1; i >= 0; i--) {
    hash = step(hash, name.charCodeAt(i))
    if (i > 0 && name.charCodeAt(i - 1) !== dot) continue
    for (let slot = finish(hash) & mask; ; slot = (slot + 1) & mask) {
      const at = slots[slot] ?? 0
      if (at === 0) break
      const row = at - 1
      if (!isNamed(text, offsets[row] ?? 0, offsets[row + 1] ?? 0, name, i)) continue
      if (isCurrent(table, row, nowSeconds)) found = row
      break
    }
  }
  return found
}

const isNamed = (text: Uint8Array, start: number, end: number, name: string, from: number): boolean => {
  if (end - start !== name.length - from) return false
  for (let i = start, j = from; i < end; i++, j++) if (text[i] !== name.charCodeAt(j)) return false
  return true
}

/** The listed name at a matching row: the end of the name that was looked up. */
export const nameAt = ({ offsets }: NameTable, row: number, asked: string): string =>
  asked.slice(asked.length - ((offsets[row + 1] ?? 0) - (offsets[row] ?? 0)))
