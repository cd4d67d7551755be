// Ranges of one address family in typed arrays: finds the longest prefix by binary search and a walk up the enclosing ranges.
import {
  type Column,
  type DetailColumns,
  isCurrent,
  pickDetails,
  scratchWords,
  shorts,
  strongerOf,
  type DetailArrays,
} from './columns.js'
import { anyPort, unknownPort } from '../domain/seen-port.js'
import { rowOrder } from './row-order.js'

export type RangeTable = DetailArrays & {
  /** Words per address: 1 for IPv4, 4 for IPv6. */
  readonly width: 1 | 4
  /** The first address of each range, sorted; for equal addresses the wider range comes first. */
  readonly starts: Uint32Array<ArrayBuffer>
  readonly bits: Uint8Array<ArrayBuffer>
  /** The narrowest enclosing range, or -1. Prefixes nest or are disjoint, so the ranges form a forest. */
  readonly parents: Int32Array<ArrayBuffer>
  /** The port of an entry, or 0 for all ports; for equal ranges 0 comes first. Empty if no entry has a port. */
  readonly ports: Uint16Array<ArrayBuffer>
}

export type RangeColumns = DetailColumns & {
  readonly width: 1 | 4
  readonly starts: Column<Uint32Array<ArrayBuffer>>
  readonly bits: Column<Uint8Array<ArrayBuffer>>
  readonly ports: Column<Uint16Array<ArrayBuffer>>
}

/** Whether the address at `b` is in the prefix of this many bits at `a`. */
const isInside = (a: Uint32Array, atA: number, b: ArrayLike<number>, atB: number, bits: number): boolean => {
  let left = bits
  for (let word = 0; left > 0; word++, left -= 32) {
    const difference = (a[atA + word] ?? 0) ^ (b[atB + word] ?? 0)
    if (left >= 32 ? difference !== 0 : difference >>> (32 - left) !== 0) return false
  }
  return true
}

export const buildRangeTable = (columns: RangeColumns): RangeTable => {
  const { width } = columns
  const bits = columns.bits.values()
  const starts = columns.starts.values()
  const ports = columns.ports.values()
  const count = bits.length
  const stride = width + 1
  const keys = scratchWords(count * stride)
  for (let row = 0; row < count; row++) {
    for (let word = 0; word < width; word++) keys[row * stride + word] = starts[row * width + word] ?? 0
    keys[row * stride + width] = ((bits[row] ?? 0) << 16) | (ports[row] ?? 0)
  }
  const order = rowOrder(count, keys, stride)
  const kept = withoutRepeats(order, columns, { starts, bits, ports })
  const sorted = new Uint32Array(kept.length * width)
  const sortedBits = new Uint8Array(kept.length)
  const sortedPorts = shorts(ports.some((port) => port !== 0) ? kept.length : 0)
  for (let i = 0; i < kept.length; i++) {
    const row = kept[i] ?? 0
    for (let word = 0; word < width; word++) sorted[i * width + word] = starts[row * width + word] ?? 0
    sortedBits[i] = bits[row] ?? 0
    if (i < sortedPorts.length) sortedPorts[i] = ports[row] ?? 0
  }
  const parents = parentsOf(sorted, sortedBits, width)
  return { width, starts: sorted, bits: sortedBits, parents, ports: sortedPorts, ...pickDetails(columns, kept) }
}

const withoutRepeats = (
  order: Uint32Array,
  columns: RangeColumns,
  { starts, bits, ports }: { readonly starts: Uint32Array; readonly bits: Uint8Array; readonly ports: Uint16Array },
): Uint32Array => {
  let length = 0
  for (const row of order) {
    const previous = length > 0 ? (order[length - 1] ?? 0) : -1
    const isRepeat =
      previous >= 0 &&
      bits[previous] === bits[row] &&
      ports[previous] === ports[row] &&
      isInside(starts, previous * columns.width, starts, row * columns.width, columns.width * 32)
    if (isRepeat) order[length - 1] = strongerOf(columns, previous, row)
    else order[length++] = row
  }
  return order.subarray(0, length)
}

const parentsOf = (starts: Uint32Array, bits: Uint8Array, width: number): Int32Array<ArrayBuffer> => {
  const parents = new Int32Array(bits.length)
  const around: number[] = []
  for (let i = 0; i < bits.length; i++) {
    let top = around.at(-1)
    while (top !== undefined && !isInside(starts, top * width, starts, i * width, bits[top] ?? 0)) {
      around.pop()
      top = around.at(-1)
    }
    parents[i] = top ?? -1
    around.push(i)
  }
  return parents
}

/** Whether the entry at a row covers this port: all ports, or exactly this one. */
export const isForPort = ({ ports }: RangeTable, row: number, port: number): boolean => {
  const own = ports[row] ?? 0
  return own === 0 || own === port || port === anyPort
}

/**
 * The row of the narrowest range around the address that is valid now and covers the port; otherwise a row for another port; or -1.
 * `address` holds `width` words.
 */
export const findRange = (
  table: RangeTable,
  address: ArrayLike<number>,
  nowSeconds: number,
  port: number = unknownPort,
): number => {
  const { width, starts, bits, parents } = table
  let low = 0
  let high = bits.length
  while (low < high) {
    const middle = (low + high) >>> 1
    let word = 0
    while (word < width - 1 && starts[middle * width + word] === address[word]) word++
    if ((starts[middle * width + word] ?? 0) <= (address[word] ?? 0)) low = middle + 1
    else high = middle
  }
  let row = low - 1
  let forOther = -1
  while (row >= 0) {
    if (isCurrent(table, row, nowSeconds) && isInside(starts, row * width, address, 0, bits[row] ?? 0)) {
      if (isForPort(table, row, port)) return row
      if (forOther < 0) forOther = row
    }
    row = parents[row] ?? -1
  }
  return forOther
}
