// The listed hosts below a domain, for whoever is asked about the domain by somebody who has seen one of them.
import { isCurrent } from './columns.js'
import { hitOf, hitOfSite, type FeedIndex, type Hit } from './feed-index.js'

/** One hit a host at most. Searches the text of all names: 10 ms for a million of them. */
export const hitsBelow = (
  index: FeedIndex,
  domain: string,
  nowSeconds: number,
  limit: number,
): readonly { readonly host: string; readonly hit: Hit }[] => {
  const { names, sites } = index
  const hits = new Map<string, Hit>()
  const add = (host: string, hit: Hit): void => {
    if (hits.size < limit && !hits.has(host)) hits.set(host, hit)
  }
  const suffix = `.${domain}`
  eachEnding(
    names.text,
    names.offsets,
    (row) => names.offsets[row + 1] ?? 0,
    suffix,
    (row, host) => {
      if (isCurrent(names, row, nowSeconds)) add(host, hitOf(index, names, row, host))
    },
  )
  const endOfHost = (row: number): number => (sites.offsets[row] ?? 0) + (sites.hostLengths[row] ?? 0)
  eachEnding(sites.text, sites.offsets, endOfHost, suffix, (row, host) => {
    const isUrl = endOfHost(row) < (sites.offsets[row + 1] ?? 0)
    if (isCurrent(sites, row, nowSeconds)) add(host, hitOfSite(index, { row, isHostOnly: isUrl }))
  })
  return [...hits].map(([host, hit]) => ({ host, hit }))
}

const eachEnding = (
  text: Uint8Array<ArrayBuffer>,
  offsets: Uint32Array,
  endOf: (row: number) => number,
  suffix: string,
  each: (row: number, host: string) => void,
): void => {
  const bytes = Buffer.from(text.buffer, text.byteOffset, text.byteLength)
  for (let at = bytes.indexOf(suffix); at >= 0; at = bytes.indexOf(suffix, at + 1)) {
    const row = rowAt(offsets, at)
    const end = endOf(row)
    if (at + suffix.length === end) each(row, bytes.toString('latin1', offsets[row], end))
  }
}

/** The row whose text holds this place. */
const rowAt = (offsets: Uint32Array, at: number): number => {
  let low = 0
  let high = offsets.length - 1
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((offsets[middle + 1] ?? Infinity) <= at) low = middle + 1
    else high = middle
  }
  return low
}
