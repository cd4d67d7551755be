// The index of one feed: plain typed arrays, which move between threads without a copy.
import { MessageChannel } from 'node:worker_threads'
import { formatAddress, readAddress, type Words } from '../domain/address.js'
import type { EntryCounts } from '../domain/entry-counts.js'
import type { Indicator } from '../domain/indicator.js'
import { unknownPort } from '../domain/seen-port.js'
import { noScore, type DetailArrays } from './columns.js'
import { findName, nameAt, type NameTable } from './name-table.js'
import { findRange, isForPort, type RangeTable } from './range-table.js'
import { findSite, siteAt, urlAt, type SiteHit, type SiteTable } from './site-table.js'

export type FeedIndex = {
  readonly four: RangeTable
  readonly six: RangeTable
  readonly names: NameTable
  readonly sites: SiteTable
  /** Category lists; entries store an index into them. */
  readonly categories: readonly (readonly string[])[]
}

/** A lookup target, parsed once for all feeds. */
export type Target =
  | { readonly address: ArrayLike<number>; readonly width: 1 | 4; readonly text: string; readonly port: number }
  | { readonly name: string; readonly paths?: readonly string[] | undefined }

export type Hit = {
  readonly entry: string
  readonly score?: number
  readonly categories: readonly string[]
  readonly since?: number
  readonly expires?: number
  /** The listing is for a port of the address or a URL of the host that the event does not show. */
  readonly isPartial?: true
  /** The listed URL, if the target is that URL or below it. */
  readonly url?: string
}

/** Context from the event: URL paths on a name, or the port of an address in the form that `findRange` takes. */
export type Shown = { readonly paths?: readonly string[] | undefined; readonly port?: number | undefined }

export const targetOf = ({ type, value }: Indicator, { paths, port = unknownPort }: Shown = {}): Target | undefined => {
  if (type === 'domain') return { name: value, paths }
  const address = readAddress(value)
  if (address === undefined) return undefined
  return typeof address === 'number'
    ? { address: [address], width: 1, text: value, port }
    : { address, width: 4, text: value, port }
}

export const findHit = (index: FeedIndex, target: Target, nowSeconds: number): Hit | undefined => {
  if ('name' in target) {
    const row = findName(index.names, target.name, nowSeconds)
    if (row >= 0) return hitOf(index, index.names, row, nameAt(index.names, row, target.name))
    const site = findSite(index.sites, target.name, target.paths, nowSeconds)
    return site && hitOfSite(index, site)
  }
  const table = target.width === 1 ? index.four : index.six
  const row = findRange(table, target.address, nowSeconds, target.port)
  if (row < 0) return undefined
  const hit = hitOf(index, table, row, rangeAt(table, row, target.text))
  return isForPort(table, row, target.port) ? hit : partial(hit)
}

export const hitOfSite = (index: FeedIndex, { row, isHostOnly }: SiteHit): Hit => {
  const hit = hitOf(index, index.sites, row, shown(siteAt(index.sites, row)))
  if (isHostOnly) return partial(hit)
  const url = urlAt(index.sites, row)
  return url === undefined ? hit : { ...hit, url: shown(url) }
}

export const hitOf = (index: FeedIndex, details: DetailArrays, row: number, entry: string): Hit => {
  const score = details.scores[row] ?? noScore
  const since = details.since[row] ?? 0
  const until = details.expires[row] ?? 0
  return {
    entry,
    ...(score !== noScore && { score }),
    categories: index.categories[details.categories[row] ?? 0] ?? [],
    ...(since !== 0 && { since: since * 1000 }),
    ...(until !== 0 && { expires: until * 1000 }),
  }
}

const maxShown = 256
const shown = (site: string): string => (site.length > maxShown ? `${site.slice(0, maxShown)}…` : site)

/** Drops the score: it belongs to the URL or the port, not to the host. */
const partial = ({ score: _, ...hit }: Hit): Hit => ({ ...hit, isPartial: true })

/** A single address is shown in the form of the target, because both are normalized. */
const rangeAt = ({ width, starts, bits, ports }: RangeTable, row: number, asked: string): string => {
  const size = bits[row] ?? 0
  const port = ports[row] ?? 0
  if (port !== 0) return width === 1 ? `${asked}:${port}` : `[${asked}]:${port}`
  if (size === width * 32) return asked
  const word = (at: number): number => starts[row * width + at] ?? 0
  const start = width === 1 ? word(0) : ([word(0), word(1), word(2), word(3)] satisfies Words)
  return `${formatAddress(start)}/${size}`
}

/** When the next entry becomes valid, in epoch milliseconds; Infinity if all are valid already. */
export const nextValidOf = ({ four, six, names, sites }: FeedIndex, now: number): number => {
  let next = Infinity
  for (const { since } of [four, six, names, sites])
    for (const seconds of since) if (seconds * 1000 > now && seconds < next) next = seconds
  return next * 1000
}

export const sizeOf = (index: FeedIndex): EntryCounts & { readonly bytes: number } => {
  const { four, six, names, sites } = index
  const endpoints = withPort(four) + withPort(six)
  const urls = sites.hostLengths.reduce((sum, length, row) => sum + (hasPath(sites, row, length) ? 1 : 0), 0)
  return {
    addresses: four.bits.length + six.bits.length - endpoints,
    endpoints,
    names: names.offsets.length - 1 + sites.hostLengths.length - urls,
    urls,
    bytes: buffersOf(index).reduce((sum, buffer) => sum + buffer.byteLength, 0),
  }
}

const withPort = ({ ports }: RangeTable): number => ports.reduce((sum, port) => sum + (port === 0 ? 0 : 1), 0)
const hasPath = ({ offsets }: SiteTable, row: number, length: number): boolean =>
  (offsets[row + 1] ?? 0) - (offsets[row] ?? 0) !== length

/** Frees the memory of an index at once by transferring it in a message without a receiver. Garbage collection could take minutes. */
export const releaseIndex = (index: FeedIndex): void => {
  const { port1, port2 } = new MessageChannel()
  port1.postMessage(undefined, buffersOf(index))
  port1.close()
  port2.close()
}

/** Every buffer of the index, for transfer to another thread. */
export const buffersOf = ({ four, six, names, sites }: FeedIndex): ArrayBuffer[] =>
  [four, six, names, sites].flatMap((table) =>
    Object.values(table)
      .filter((value) => ArrayBuffer.isView(value))
      .map((view) => view.buffer as ArrayBuffer),
  )
