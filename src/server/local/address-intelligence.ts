// Everything the local sources say about one address, before any operation picks its part of it.
import { ratings, type Rating, type Listing } from '../../domain/finding.js'
import type { JsonObject } from '../answer.js'
import type { Banner } from './banner-index.js'
import type { ListKind } from './address-lists.js'
import type { Location } from '../../geo/places.js'

export type AddressIntelligence = {
  readonly ip: string
  /** Feed entries that accuse the address; a feed never clears one. */
  readonly listings: readonly Listing[]
  /** When the feeds were read, epoch milliseconds. */
  readonly listedAt: number
  /** The lists that the address is on, by kind, each with the names of its files. */
  readonly lists: ReadonlyMap<ListKind, readonly string[]>
  /** Kinds of which at least one list is loaded; about any other kind nothing can be said. */
  readonly loadedLists: ReadonlySet<ListKind>
  readonly place?: Location
  /** Newest first, one a port. */
  readonly banners: readonly Banner[]
  /** Names that reports saw on the address. */
  readonly names: readonly { readonly name: string; readonly seenAt: string }[]
}

/** True or absent: no feed can say that an address is harmless. */
export const isMalicious = ({ listings }: AddressIntelligence): true | undefined =>
  listings.some(({ level }) => level === 'malicious') ? true : undefined

/** The worst that a feed says, or nothing at all. */
export const ratingOf = (listings: readonly Listing[]): Rating | undefined => {
  const worst = listings.map(ratingOfListing).map((rating) => ratings.indexOf(rating))
  return worst.length === 0 ? undefined : ratings[Math.max(...worst)]
}

const ratingOfListing = ({ level, score }: Listing): Rating => {
  if (level === 'suspicious') return score !== undefined && score >= 75 ? 'dangerous' : 'moderate'
  return score === undefined || score >= 90 ? 'critical' : 'dangerous'
}

/** On a list: true. Lists of the kind are loaded and none holds it: false. None is loaded: nothing. */
export const isOn = ({ lists, loadedLists }: AddressIntelligence, kind: ListKind): boolean | undefined =>
  lists.has(kind) ? true : loadedLists.has(kind) ? false : undefined

const remotePorts = new Set([22, 23, 512, 513, 514, 2323, 3389, 5800, 5900, 5901, 5985, 5986])

export const remoteBanners = ({ banners }: AddressIntelligence): readonly Banner[] =>
  banners.filter(({ port, socket }) => socket === 'tcp' && remotePorts.has(port))

export const vulnerabilitiesOf = ({ banners }: AddressIntelligence): ReadonlyMap<string, readonly Banner[]> => {
  const byCve = new Map<string, Banner[]>()
  for (const banner of banners)
    for (const cveId of banner.cveIds) byCve.set(cveId, [...(byCve.get(cveId) ?? []), banner])
  return byCve
}

const scores: Readonly<Record<Rating, { readonly num: number; readonly percentage: number }>> = {
  safe: { num: 0, percentage: 20 },
  low: { num: 1, percentage: 40 },
  moderate: { num: 2, percentage: 60 },
  dangerous: { num: 3, percentage: 80 },
  critical: { num: 4, percentage: 99 },
}

/** A rating in the three spellings that a domain report has for it. Nothing for no rating: a score is never made up. */
export const domainScore = (rating: Rating | undefined): JsonObject | undefined =>
  rating && { score: rating, score_num: scores[rating].num, score_percentage: scores[rating].percentage }
