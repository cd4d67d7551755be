// Rejects entries that are too broad, because one wrong line could accuse half the internet or the user's own network.
import { parseRange, type AddressRange, type Words } from '../domain/address.js'
import { isHostBelowWildcard, publicSuffix } from '../domain/public-suffix.js'
import { isDocumentationRange, specialRanges } from '../domain/special-ranges.js'
import type { Entry, Span } from './entry.js'

const widest = { 4: 8, 6: 19 } as const

const compare = (a: Words, b: Words): number => a[0] - b[0] || a[1] - b[1] || a[2] - b[2] || a[3] - b[3]

const overlaps = (a: AddressRange, b: AddressRange): boolean => {
  if (a.version === 4) return b.version === 4 && a.first <= b.last && b.first <= a.last
  return b.version === 6 && compare(a.first, b.last) <= 0 && compare(b.first, a.last) <= 0
}

/** The number of leading bits that all addresses of the range share. */
export const bitsOf = (range: AddressRange): number => {
  if (range.version === 4) return Math.clz32(range.first ^ range.last)
  const word = ([0, 1, 2, 3] as const).find((at) => range.first[at] !== range.last[at])
  return word === undefined ? 128 : word * 32 + Math.clz32(range.first[word] ^ range.last[word])
}

/**
 * Narrowest first, for the most specific message. Documentation ranges are left out: no host has such an address, and samples and
 * demonstrations need them.
 */
const special = specialRanges
  .filter((entry) => !isDocumentationRange(entry))
  .flatMap((entry) => {
    const range = parseRange(entry.range)
    return range ? [{ range, text: entry.range, name: entry.name }] : []
  })
  .sort((a, b) => bitsOf(b.range) - bitsOf(a.range))

const tooBroadRange = (range: AddressRange): string | undefined =>
  bitsOf(range) < widest[range.version] ? `is wider than /${widest[range.version]}` : specialIn(range)

const specialIn = (range: AddressRange): string | undefined => {
  const found = special.find((other) => overlaps(range, other.range))
  return found && `lies in or around the special range ${found.text} (${found.name})`
}

/** A span has no prefix, so its number of addresses counts. */
const tooBroadSpan = ({ first, last }: Span): string | undefined =>
  last - first >= 2 ** (32 - widest[4]) ? `is wider than /${widest[4]}` : specialIn({ version: 4, first, last })

/** Why a name is rejected. */
export const tooBroadName = (name: string): string | undefined => {
  const { isListed, registrable } = publicSuffix(name)
  return isListed && registrable === undefined && !isHostBelowWildcard(name)
    ? 'is a public suffix, not a name below one'
    : undefined
}

/** Why an entry is rejected. A URL accuses only itself and perhaps its host, so it is never too broad. */
export const tooBroad = (entry: Entry): string | undefined => {
  if (entry.kind === 'site') return undefined
  if (entry.kind === 'name') return tooBroadName(entry.name)
  return entry.kind === 'range' ? tooBroadRange(entry.range) : tooBroadSpan(entry.span)
}
