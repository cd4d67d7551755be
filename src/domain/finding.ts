// A finding: the result of a lookup, facts or the reason why there are none.
import type { AddressDetails } from './address-details.js'
import type { Reason } from './reason.js'
import type { Flags } from './flag.js'

export const ratings = ['safe', 'low', 'moderate', 'dangerous', 'critical'] as const
export type Rating = (typeof ratings)[number]

export const levels = ['malicious', 'suspicious', 'clean', 'unknown'] as const
export type Level = (typeof levels)[number]

/** A matching entry of a local feed, or the accusation by a source that was asked. */
export type Listing = {
  readonly feed: string
  readonly entry: string
  /** `flag`: shown, but decides nothing, because what it accuses is safeguarded. */
  readonly level: 'malicious' | 'suspicious' | 'flag'
  readonly score?: number
  readonly categories: readonly string[]
  /** The entry is for another port of the address or for a URL of the host, which the event does not show. */
  readonly isPartial?: true
  /** The listed URL, where the event shows that or what is below it. */
  readonly url?: string
  /** Epoch milliseconds since when it is listed, where the list states it. */
  readonly since?: number
  /** Epoch milliseconds when the copy of the list in use was written. */
  readonly copyAt?: number
  /** Epoch milliseconds after which the entry no longer counts. */
  readonly expires?: number
  /** What a source said, in its own words: `abuseConfidenceScore 100`. */
  readonly evidence?: string
  /** Epoch milliseconds when a source said so; absent for a feed. */
  readonly at?: number
  /** It is of a source and past its life. */
  readonly stale?: true
}

/** What is known about one host of a registrable domain. */
export type HostReport = {
  readonly host: string
  /** Epoch milliseconds of the scan. */
  readonly at?: number
  readonly scanId?: string
  readonly rating?: Rating
  readonly issues: readonly string[]
  readonly phishingRecords?: number
  readonly safeBrowsingHits?: number
  readonly criticalAbuseRecords?: number
  readonly phishingProbability?: number
  readonly dgaScore?: number
  /** Epoch milliseconds of the registration. */
  readonly registeredAt?: number
  readonly fakeDomain?: boolean
  readonly invalidTls?: boolean
}

/** Facts contain no verdict; they are judged for every role. */
export type Facts = {
  readonly flags: Flags
  readonly inbound?: Rating
  readonly outbound?: Rating
  readonly categories: readonly string[]
  readonly scanningRecords?: number
  readonly idsHits?: number
  /** Epoch milliseconds of the newest intrusion-detection hit. */
  readonly idsLatest?: number
  readonly abuseRecords?: number
  readonly abuseLatest?: number
  /** What is open at an address, and whose it is. */
  readonly details?: AddressDetails
  /** The registrable domain that `hosts` belong to. */
  readonly domain?: string
  readonly hosts?: readonly HostReport[]
  readonly listings?: readonly Listing[]
  /** Flags that sources state; they describe and are never judged. */
  readonly described?: Flags
  /** Sources that explicitly call it clean. */
  readonly clearedBy?: readonly string[]
}

/** What one operation of the provider answered. */
export type Answered = {
  readonly operation: string
  /** Epoch milliseconds when it was obtained. */
  readonly at: number
  /** Absent where it found nothing. */
  readonly facts?: Facts
}

export type Known = {
  readonly status: 'known'
  readonly facts: Facts
  /** `service`, `feed:<name>`, or `source:<id>` of a source that was asked. */
  readonly source: string
  /** Operations of the provider whose answers these facts are from. */
  readonly operations?: readonly string[]
  /** Where these facts are from several: each by itself, so that each is asked again when its own time is over. */
  readonly answers?: readonly Answered[]
  /** Epoch milliseconds when the facts, or the oldest of them, were obtained. */
  readonly at: number
  readonly stale?: boolean
  /** The whole answer, if it is passed on unchanged. */
  readonly body?: Readonly<Record<string, unknown>>
  /** Some configured feed is not in use, or a source that was due did not answer, so these facts alone do not make anything clean. */
  readonly isFeedMissing?: true
  /** The facts are those of sources alone: why the main provider has none. */
  readonly without?: Reason
}
export type Unknown = {
  readonly status: 'unknown'
  readonly reason: Reason
  /** From a failure with a Retry-After. */
  readonly retryAfterMs?: number
  /** Set with `at`: operations of the provider that answered so. */
  readonly operations?: readonly string[]
  /** Epoch milliseconds; set on an answer such as `not_found` that may be stored. */
  readonly at?: number
  /** No byte of the request was sent, so it cost nothing. */
  readonly isUnsent?: true
}
export type Finding = Known | Unknown

/** When its newest answer was obtained: some of several may be older, because they were not asked for again. */
export const newestAt = (finding: Finding): number | undefined =>
  finding.status === 'known' && finding.answers
    ? Math.max(finding.at, ...finding.answers.map(({ at }) => at))
    : finding.at

/** The source that said so; undefined where it was the provider or a feed. Names of its operations have a slash, ids of sources have none. */
export const sourceIdOf = (finding: Finding): string | undefined => {
  const [operation = '/', ...more] = finding.operations ?? []
  if (more.length > 0 || operation.includes('/')) return undefined
  return finding.status === 'unknown' || finding.source === `source:${operation}` ? operation : undefined
}

export const noFacts: Facts = { flags: {}, categories: [] }

const unknowns: { [reason in Reason]?: Unknown } = {}
/** The same object for the same reason, so that caches find it. */
export const unknownOf = (reason: Reason): Unknown =>
  (unknowns[reason] ??= Object.freeze({ status: 'unknown', reason }))

/**
 * Reasons that say no more than that nobody lists it. While some configured feed is not in use nobody can say that: accusations
 * stand, but what nobody accuses is neither clean nor unlisted.
 */
export const saysNotListed: ReadonlySet<Reason | undefined> = new Set<Reason>([
  'not_listed',
  'feeds_only',
  'not_found',
  'no_verdict',
])

export const whileFeedMissing = (finding: Finding): Finding =>
  finding.status === 'known' ? { ...finding, isFeedMissing: true } : unlisted(finding)

export const unlisted = (finding: Unknown): Unknown => {
  if (!saysNotListed.has(finding.reason)) return finding
  return finding.at === undefined ? unknownOf('feed_missing') : { ...finding, reason: 'feed_missing' }
}
