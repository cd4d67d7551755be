// An immutable set of address ranges with fast membership, for lists from a handful to millions of ranges.
import type { Address, AddressRange, Words } from './address.js'

export type RangeSet = {
  /** The number of ranges after merging overlaps. */
  readonly size: number
  readonly has: (address: Address) => boolean
}

const compareWords = (a: Words, b: Words): number => a[0] - b[0] || a[1] - b[1] || a[2] - b[2] || a[3] - b[3]

/** Negative, zero or positive if the address is before, at or after the stored one. */
const compareAt = (stored: Uint32Array, place: number, address: Words): number => {
  const at = place * 4
  return (
    address[0] - (stored[at] ?? 0) ||
    address[1] - (stored[at + 1] ?? 0) ||
    address[2] - (stored[at + 2] ?? 0) ||
    address[3] - (stored[at + 3] ?? 0)
  )
}

type Span<Bound> = { readonly first: Bound; readonly last: Bound }

/** Sorts the spans and merges overlaps. */
const merge = <Bound>(spans: readonly Span<Bound>[], compare: (a: Bound, b: Bound) => number): Span<Bound>[] => {
  const merged: Span<Bound>[] = []
  for (const span of spans.toSorted((a, b) => compare(a.first, b.first))) {
    const previous = merged.at(-1)
    if (previous === undefined || compare(span.first, previous.last) > 0) merged.push(span)
    else if (compare(span.last, previous.last) > 0)
      merged[merged.length - 1] = { first: previous.first, last: span.last }
  }
  return merged
}

export const createRangeSet = (ranges: readonly AddressRange[]): RangeSet => {
  const four = merge<number>(
    ranges.filter((range) => range.version === 4),
    (a, b) => a - b,
  )
  const six = merge<Words>(
    ranges.filter((range) => range.version === 6),
    compareWords,
  )
  const firsts4 = Uint32Array.from(four, ({ first }) => first)
  const lasts4 = Uint32Array.from(four, ({ last }) => last)
  const firsts6 = Uint32Array.from(six.flatMap(({ first }) => first))
  const lasts6 = Uint32Array.from(six.flatMap(({ last }) => last))

  const has4 = (address: number): boolean => {
    let low = 0
    let high = firsts4.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((firsts4[middle] ?? 0) <= address) low = middle + 1
      else high = middle
    }
    return low > 0 && address <= (lasts4[low - 1] ?? 0)
  }
  const has6 = (address: Words): boolean => {
    let low = 0
    let high = six.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (compareAt(firsts6, middle, address) >= 0) low = middle + 1
      else high = middle
    }
    return low > 0 && compareAt(lasts6, low - 1, address) <= 0
  }
  return {
    size: four.length + six.length,
    has: (address) => (typeof address === 'number' ? has4(address) : has6(address)),
  }
}
