// Looks up an indicator, and the hosts below a domain, in the feeds in use.
import type { Address } from '../domain/address.js'
import type { IndicatorList } from '../domain/decision.js'
import type { Known, Listing } from '../domain/finding.js'
import { isCurrent } from './columns.js'
import type { FeedSettings } from './feed.js'
import { findHit, hitOf, hitOfSite, type FeedIndex, type Hit, type Target } from './feed-index.js'
import type { Slot } from './status.js'

export const matchIn = (
  slots: readonly Slot[],
  target: Target | undefined,
  now: number,
  safeguard: IndicatorList | undefined,
): Known | undefined => {
  if (target === undefined) return undefined
  const nowSeconds = now / 1000
  let found: DatedListing[] | undefined
  for (const { settings, inUse } of slots) {
    const hit = inUse && findHit(inUse.index, target, nowSeconds)
    if (!hit) continue
    found ??= []
    found.push(listingOf(settings, hit, target, safeguard, inUse.modified))
  }
  return found && knownOf(found)
}

const maxBelow = 128

export const listBelow = (
  slots: readonly Slot[],
  domain: string,
  nowSeconds: number,
  safeguard: IndicatorList | undefined,
): readonly Listing[] =>
  slots.flatMap(({ settings, inUse }) =>
    (inUse ? hitsBelow(inUse.index, domain, nowSeconds, maxBelow) : [])
      .map(({ host, hit }) => listingOf(settings, hit, { name: host }, safeguard, inUse?.modified ?? 0))
      .filter(({ level }) => level !== 'flag'),
  )

/**
 * A safeguarded target is only flagged. A URL elsewhere on the host, or another port of the address, makes the target suspicious. An event
 * that shows the listed URL itself gets the feed's level, even if the host is safeguarded.
 */
const listingOf = (
  { name: feed, level: own }: FeedSettings,
  { isPartial, ...listed }: Hit,
  target: Target,
  safeguard: IndicatorList | undefined,
  copyAt: number,
): DatedListing => {
  const isSafe = safeguard !== undefined && isSafeguarded(safeguard, target, listed)
  return {
    feed,
    level: isSafe ? 'flag' : isPartial ? 'suspicious' : own,
    ...listed,
    ...(isPartial && { isPartial }),
    copyAt,
  }
}

const addressOf = ({ 0: a = 0, 1: b, 2: c, 3: d }: ArrayLike<number>): Address =>
  b === undefined || c === undefined || d === undefined ? a : [a, b, c, d]

const isSafeguarded = (
  safeguard: IndicatorList,
  target: Target,
  { entry, url }: { readonly entry: string; readonly url?: string },
): boolean => {
  if (!('name' in target)) return safeguard.ranges.has(addressOf(target.address))
  if (url !== undefined) return false
  const slash = entry.indexOf('/')
  return safeguard.names.has(target.name) || safeguard.names.has(slash < 0 ? entry : entry.slice(0, slash))
}

type DatedListing = Listing & { readonly copyAt: number }

const ranks = { malicious: 1000, suspicious: 0, flag: -1000 } as const
const weight = ({ level, score }: Listing): number => ranks[level] + (score ?? -1)

/** Categories stay with their listing: merged, they would belong to no feed. */
const knownOf = (found: readonly DatedListing[]): Known => {
  const worst = found.reduce((best, other) => (weight(other) > weight(best) ? other : best))
  return {
    status: 'known',
    facts: {
      flags: worst.level === 'flag' ? { safeguarded: true } : {},
      categories: [],
      listings: found,
    },
    source: `feed:${worst.feed}`,
    at: worst.copyAt,
  }
}

/**
 * The listed hosts below a domain, at most one hit per host, for clients that look up the domain of a host they have seen. Scans the text
 * of all names: 10 ms for a million.
 */
const hitsBelow = (
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

/** The row whose text contains this offset. */
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
