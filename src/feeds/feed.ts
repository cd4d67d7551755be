// The types of a feed: its settings, the details of its entries, and the interface between parsers and collector.
import type { SkipReason } from '../domain/skipped.js'

export type FeedSettings = {
  readonly name: string
  /** The source: a file, or the address of a list, a TAXII collection or a MISP server. */
  readonly path?: string
  readonly url?: string
  readonly taxii?: string
  readonly misp?: string
  readonly headersFile?: string
  readonly apiKeyFile?: string
  readonly clientCertFile?: string
  readonly clientKeyFile?: string
  /** For a MISP server: the tags to filter by, and whether events must be published. */
  readonly tags?: readonly string[]
  readonly published?: boolean
  readonly refreshMinutes?: number
  readonly allowHttp?: boolean
  readonly level: 'malicious' | 'suspicious'
  readonly score?: number
  readonly categories: readonly string[]
  /** Entries to which the list gives a lower score are skipped. */
  readonly minScore?: number
  readonly expiresDays?: number | { readonly ip?: number; readonly domain?: number }
  readonly columns?: Columns
}

/** Which column holds what, by name or by number from 1, for lists whose headers do not say. */
export type Columns = { readonly value: ColumnPlace } & {
  readonly [detail in 'port' | 'score' | 'category' | 'firstSeen' | 'lastSeen' | 'expires']?: ColumnPlace
}
export type ColumnPlace = number | string

/** Where the feed is fetched from; undefined for a local file. */
export const addressOf = ({ url, taxii, misp }: FeedSettings): string | undefined => url ?? taxii ?? misp

/** A feed with a known file: its own, or the fetched copy. */
export type PlacedFeed = FeedSettings & { readonly path: string }

/** Details of one entry that override or add to the feed's settings. Times are epoch milliseconds. */
export type Details = {
  readonly score?: number | undefined
  readonly categories?: readonly string[] | undefined
  /** Start of validity. */
  readonly since?: number | undefined
  readonly firstSeen?: number | undefined
  readonly expires?: number | undefined
  readonly seen?: number | undefined
  /** The Traffic Light Protocol marking, such as `tlp:amber`. */
  readonly tlp?: string | undefined
  /** The port that the entry is limited to, if its value does not contain one. */
  readonly port?: number | undefined
}

/** A line of a text file; in JSON, a text of the entry, which is searched for only when there is something to report. */
export type Place = number | string

/** Receives the results of a parser. `add` and `skip` return false to stop it. */
export type Sink = {
  readonly add: (value: string, place: Place, details?: Details) => boolean
  /** Counts content that is not an entry: by default a line or an object that should contain one. `text` is that content. */
  readonly skip: (place: Place, why?: SkipReason, text?: string) => boolean
  /** False for one page of a list whose other pages are read too. */
  readonly isWhole: boolean
  /** Whether this version of an id is the newest in all files of the feed; of equal versions the first one counts. */
  readonly isNewest: (id: string, version: number) => boolean
}

/** Why a whole file cannot be parsed; a parser returns undefined if it can. */
export type ParseProblem = { readonly place?: Place; readonly message: string }
export type Parser = (bytes: Buffer, sink: Sink) => ParseProblem | undefined
