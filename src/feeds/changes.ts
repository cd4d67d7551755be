// What a swap of a feed changes: entries that were added or removed, became valid, or expired.
import { formatAddress, type Words } from '../domain/address.js'
import { isCurrent, type DetailArrays } from './columns.js'
import type { FeedIndex } from './feed-index.js'
import type { RangeTable } from './range-table.js'
import { siteAt } from './site-table.js'

export type FeedChanges = {
  readonly added: readonly string[]
  readonly removed: readonly string[]
  /** Listed before and after, but it counts only now. */
  readonly becameValid: readonly string[]
  readonly expired: readonly string[]
}

export type IndexAt = { readonly index: FeedIndex; readonly now: number }

/** The same index at two times tells what became valid or expired in between. */
export const changesBetween = (before: IndexAt, after: IndexAt): FeedChanges => {
  const former = entriesOf(before)
  const latter = entriesOf(after)
  const added: string[] = []
  const removed: string[] = []
  const becameValid: string[] = []
  const expired: string[] = []
  for (const [entry, counts] of latter) {
    const counted = former.get(entry)
    if (counted === undefined) added.push(entry)
    else if (counts && !counted) becameValid.push(entry)
    else if (!counts && counted) expired.push(entry)
  }
  for (const entry of former.keys()) if (!latter.has(entry)) removed.push(entry)
  return { added, removed, becameValid, expired }
}

/** Each entry as it is shown, and whether it counts at that time. */
const entriesOf = ({ index, now }: IndexAt): Map<string, boolean> => {
  const entries = new Map<string, boolean>()
  const add = (details: DetailArrays, count: number, textOf: (row: number) => string): void => {
    for (let row = 0; row < count; row++) entries.set(textOf(row), isCurrent(details, row, now / 1000))
  }
  const { four, six, names, sites } = index
  for (const table of [four, six]) add(table, table.bits.length, (row) => rangeText(table, row))
  const text = Buffer.from(names.text.buffer, names.text.byteOffset, names.text.byteLength)
  add(names, names.offsets.length - 1, (row) => text.toString('latin1', names.offsets[row], names.offsets[row + 1]))
  add(sites, sites.offsets.length - 1, (row) => siteAt(sites, row))
  return entries
}

const rangeText = ({ width, starts, bits }: RangeTable, row: number): string => {
  const word = (at: number): number => starts[row * width + at] ?? 0
  const start = width === 1 ? word(0) : ([word(0), word(1), word(2), word(3)] satisfies Words)
  const size = bits[row] ?? 0
  return size === width * 32 ? formatAddress(start) : `${formatAddress(start)}/${size}`
}
