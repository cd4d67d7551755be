// Collects all local data about one address, from which each operation selects its part.
import { ratings, type Rating, type Listing } from '../../domain/finding.js'
import type { JsonObject } from '../answer.js'
import type { Banner } from './banner-index.js'
import type { ListKind } from './address-lists.js'
import type { Location } from '../../geo/places.js'

export type AddressIntelligence = {
  readonly ip: string
  /** Matching feed entries; feeds never clear an address. */
  readonly listings: readonly Listing[]
  /** When the feeds were read, epoch milliseconds. */
  readonly listedAt: number
  /** The lists with this address: file names by kind. */
  readonly lists: ReadonlyMap<ListKind, readonly string[]>
  /** Kinds with at least one loaded list; for other kinds the flag is unknown. */
  readonly loadedLists: ReadonlySet<ListKind>
  readonly place?: Location
  /** Newest first, one per port. */
  readonly banners: readonly Banner[]
  /** Names that reports saw on the address. */
  readonly names: readonly { readonly name: string; readonly seenAt: string }[]
}

/** True or undefined, because a feed cannot prove that an address is harmless. */
export const isMalicious = ({ listings }: AddressIntelligence): true | undefined =>
  listings.some(({ level }) => level === 'malicious') ? true : undefined

/** The worst rating of the listings; undefined without any. */
export const ratingOf = (listings: readonly Listing[]): Rating | undefined => {
  const worst = listings.map(ratingOfListing).map((rating) => ratings.indexOf(rating))
  return worst.length === 0 ? undefined : ratings[Math.max(...worst)]
}

const ratingOfListing = ({ level, score }: Listing): Rating => {
  if (level === 'suspicious') return score !== undefined && score >= 75 ? 'dangerous' : 'moderate'
  return score === undefined || score >= 90 ? 'critical' : 'dangerous'
}

/** True if listed, false if lists of this kind are loaded without it, undefined without such lists. */
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

/** A rating in the three forms of a domain report; undefined without a rating, because scores are never invented. */
export const domainScore = (rating: Rating | undefined): JsonObject | undefined =>
  rating && { score: rating, score_num: scores[rating].num, score_percentage: scores[rating].percentage }
