// A finding: the result of a lookup, facts or the reason why there are none.
import type { AddressDetails } from './address-details.js'
import type { Reason } from './reason.js'
import type { Flags } from './flag.js'

export const ratings = ['safe', 'low', 'moderate', 'dangerous', 'critical'] as const
export type Rating = (typeof ratings)[number]

export const levels = ['malicious', 'suspicious', 'clean', 'unknown'] as const
export type Level = (typeof levels)[number]

/** A matching entry of a local feed, or a malicious or suspicious answer of a source. */
export type Listing = {
  readonly feed: string
  readonly entry: string
  /** `flag`: shown without effect on the verdict, because the indicator is safeguarded. */
  readonly level: 'malicious' | 'suspicious' | 'flag'
  readonly score?: number
  readonly categories: readonly string[]
  /** The entry is for a port or URL that is not in the event. */
  readonly isPartial?: true
  /** The listed URL, if the event has it or a URL below it. */
  readonly url?: string
  /** Epoch milliseconds of the listing, if the list has a date. */
  readonly since?: number
  /** Epoch milliseconds when the copy of the list in use was written. */
  readonly copyAt?: number
  /** Epoch milliseconds after which the entry no longer counts. */
  readonly expires?: number
  /** The evidence in the words of the source: `abuseConfidenceScore 100`. */
  readonly evidence?: string
  /** Epoch milliseconds of the answer of a source; absent for a feed. */
  readonly at?: number
  /** An answer of a source that is past its TTL. */
  readonly stale?: true
}

/** Facts about one host of a registrable domain. */
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
  /** Descriptive facts about an address. */
  readonly details?: AddressDetails
  /** The registrable domain that `hosts` belong to. */
  readonly domain?: string
  readonly hosts?: readonly HostReport[]
  readonly listings?: readonly Listing[]
  /** Flags from sources; they are shown and never judged. */
  readonly described?: Flags
  /** Sources that explicitly call it clean. */
  readonly clearedBy?: readonly string[]
}

/** The answer of one operation of the provider. */
export type Answered = {
  readonly operation: string
  /** Epoch milliseconds when it was obtained. */
  readonly at: number
  /** Absent if nothing was found. */
  readonly facts?: Facts
}

export type Known = {
  readonly status: 'known'
  readonly facts: Facts
  /** `service`, `feed:<name>` or `source:<id>`. */
  readonly source: string
  /** The operations of the provider that these facts come from. */
  readonly operations?: readonly string[]
  /** The separate answers of several operations, each with its own TTL. */
  readonly answers?: readonly Answered[]
  /** Epoch milliseconds when the oldest of the facts was obtained. */
  readonly at: number
  readonly stale?: boolean
  /** The whole answer, if it is forwarded unchanged. */
  readonly body?: Readonly<Record<string, unknown>>
  /** A configured feed is not in use or a source did not answer, so the verdict cannot be clean. */
  readonly isFeedMissing?: true
  /** Why the main provider has no facts, if these come only from sources. */
  readonly without?: Reason
}
export type Unknown = {
  readonly status: 'unknown'
  readonly reason: Reason
  /** From a failure with a Retry-After. */
  readonly retryAfterMs?: number
  /** Set with `at`: the operations of the provider with this answer. */
  readonly operations?: readonly string[]
  /** Epoch milliseconds; set on answers that may be stored, such as `not_found`. */
  readonly at?: number
  /** No byte of the request was sent, so the call cost nothing. */
  readonly isUnsent?: true
}
export type Finding = Known | Unknown

/** The time of the newest answer. Operations are refreshed separately, so others may be older. */
export const newestAt = (finding: Finding): number | undefined =>
  finding.status === 'known' && finding.answers
    ? Math.max(finding.at, ...finding.answers.map(({ at }) => at))
    : finding.at

/** The id of the source; undefined for the provider or a feed. Operation names have a slash, source ids do not. */
export const sourceIdOf = (finding: Finding): string | undefined => {
  const [operation = '/', ...more] = finding.operations ?? []
  if (more.length > 0 || operation.includes('/')) return undefined
  return finding.status === 'unknown' || finding.source === `source:${operation}` ? operation : undefined
}

export const noFacts: Facts = { flags: {}, categories: [] }

const unknowns: { [reason in Reason]?: Unknown } = {}
/** Returns one shared object per reason, which caches keyed by identity rely on. */
export const unknownOf = (reason: Reason): Unknown =>
  (unknowns[reason] ??= Object.freeze({ status: 'unknown', reason }))

/**
 * Reasons that mean "not listed". While a configured feed is not in use this cannot be known: listings still count, but an
 * indicator without one is neither clean nor unlisted.
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
