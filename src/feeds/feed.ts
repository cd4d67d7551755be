// What a feed is to the program: its settings, what one of its entries says, and what can be wrong with it.
import type { SkipReason } from '../domain/skipped.js'

export type FeedSettings = {
  readonly name: string
  /** The file, or the address to fetch it from: of a list, a TAXII collection, or a MISP server. */
  readonly path?: string
  readonly url?: string
  readonly taxii?: string
  readonly misp?: string
  readonly headersFile?: string
  readonly apiKeyFile?: string
  readonly clientCertFile?: string
  readonly clientKeyFile?: string
  /** Of a MISP server: only what has one of these tags, and what is not published too. */
  readonly tags?: readonly string[]
  readonly published?: boolean
  readonly refreshMinutes?: number
  readonly allowHttp?: boolean
  readonly level: 'malicious' | 'suspicious'
  readonly score?: number
  readonly categories: readonly string[]
  /** Entries that the list itself gives a lower score are left out. */
  readonly minScore?: number
  readonly expiresDays?: number | { readonly ip?: number; readonly domain?: number }
  readonly columns?: Columns
}

/** Which column holds what, by its name or its number from 1, where a list does not say it. */
export type Columns = { readonly value: ColumnPlace } & {
  readonly [detail in 'port' | 'score' | 'category' | 'firstSeen' | 'lastSeen' | 'expires']?: ColumnPlace
}
export type ColumnPlace = number | string

/** Where it is fetched from; nothing for a file. */
export const addressOf = ({ url, taxii, misp }: FeedSettings): string | undefined => url ?? taxii ?? misp

/** A feed whose file is known: its own, or the copy of what was fetched. */
export type PlacedFeed = FeedSettings & { readonly path: string }

/** What a feed says about one entry, where it says more than the feed's own settings. Times are epoch milliseconds. */
export type Details = {
  readonly score?: number | undefined
  readonly categories?: readonly string[] | undefined
  /** From when on the entry counts. */
  readonly since?: number | undefined
  readonly firstSeen?: number | undefined
  readonly expires?: number | undefined
  readonly seen?: number | undefined
  /** How far it may be passed on: `tlp:amber`. */
  readonly tlp?: string | undefined
  /** The port that it is meant for, where the entry itself does not say it. */
  readonly port?: number | undefined
}

/** A line of a text file; in JSON, an id that stands at the entry and is looked for only when there is something to say. */
export type Place = number | string

/** Where parsers put what they find. Both return false when reading on has no use. */
export type Sink = {
  readonly add: (value: string, place: Place, details?: Details) => boolean
  /** What is in the file and is no entry: by default a line or an object that should hold one. `text` is what it holds. */
  readonly skip: (place: Place, why?: SkipReason, text?: string) => boolean
  /** False where the file is a page, and the others are read too. */
  readonly isWhole: boolean
  /** Whether this is the version of an id that counts, of all in the files of the feed; of equal ones the first that is met. */
  readonly isNewest: (id: string, version: number) => boolean
}

/** A parser reads all of one file; what it returns is why the file as a whole cannot be read. */
export type ParseProblem = { readonly place?: Place; readonly message: string }
export type Parser = (bytes: Buffer, sink: Sink) => ParseProblem | undefined
