// The types of a lookup service profile: requests, errors and paths of facts, from sources/lookup-service.yaml and a file over it.
import type { Exposure } from './address-details.js'
import type { OperationName } from './operations.js'
import type { Rating } from './finding.js'
import type { Flag } from './flag.js'
import type { Reason } from './reason.js'

/** Names separated by dots; `[]` after a list stands for each of its entries. */
type Path = string
/** The paths of a fact; the reader of the profile combines several. */
export type Places = Path | readonly Path[]

/** `5xx` is 500 to 599. */
type Code = number | string

/** A row without codes matches by its words, and only after all rows with codes. */
export type ErrorRow = {
  /** Codes of the body. */
  readonly status?: readonly Code[]
  /** Codes of HTTP. */
  readonly http?: readonly Code[]
  /** All must be in the message, in upper or lower case. */
  readonly words?: readonly string[]
  readonly reason: (typeof errorReasons)[number]
  /** The pause before the next call if there is no Retry-After. */
  readonly pauseSeconds?: number
}

export const errorReasons = [
  'bad_key',
  'no_credit',
  'plan',
  'busy',
  'throttled',
  'unavailable',
  'bad_input',
  'not_found',
  'bad_answer',
] as const satisfies readonly Reason[]

/** Only these failures are temporary, so only these may have a pause. */
export const passingReasons: ReadonlySet<Reason> = new Set<Reason>(['busy', 'throttled', 'unavailable'])

/** Scales of numeric ratings: from 1, from 0, or a percentage. */
export const ratingScales = ['from1', 'from0', 'percent'] as const
export type RatingPlace = Path | { readonly path: Path; readonly scale: (typeof ratingScales)[number] }
export type RatingPlaces = RatingPlace | readonly RatingPlace[]

export type AddressPlaces = {
  readonly subject?: Places
  /** The object with the facts, if not the top level. */
  readonly under?: Path
  readonly flags: { readonly [flag in Flag]?: Places }
  /** True makes the address malicious; false has no effect. */
  readonly accusedBy?: Places
  readonly inbound?: RatingPlaces
  readonly outbound?: RatingPlaces
  readonly categories?: Places
  readonly scanningRecords?: Places
  readonly idsHits?: Places
  readonly idsLatest?: Places
  readonly abuseRecords?: Places
  readonly ports?: PortPlaces
  /** Ids of vulnerabilities. */
  readonly vulnerabilities?: Places
  /** Counts of publicly reachable things. */
  readonly exposes?: { readonly [name in Exposure]?: Places }
  readonly owner?: Places
  readonly country?: Places
  readonly asNumber?: Places
  readonly asName?: Places
  readonly listings?: Path
}

/** Paths within a row of the port list; a port with status `closed` is skipped. */
export type PortPlaces = {
  readonly rows: Places
  readonly port: Places
  readonly status?: Places
  readonly at?: Places
}

export type ReportRowPlaces = {
  /** The list of rows; the other paths are relative to a row. */
  readonly rows: Path
  readonly url: Places
  readonly scanId?: Places
  readonly at?: Places
  readonly rating?: RatingPlaces
  readonly issues?: Places
  /** In the answer, not in a row. */
  readonly listings?: Path
}

export type ReportPlaces = {
  readonly subject?: Places
  readonly rating?: RatingPlaces
  readonly at?: Places
  /** The offset of `at` from UTC, in hours. */
  readonly atHoursAhead?: number
  readonly phishingRecords?: Places
  readonly safeBrowsingHits?: Places
  readonly criticalAbuseRecords?: Places
  readonly phishingProbability?: Places
  readonly dgaScore?: Places
  readonly registeredAt?: Places
  readonly fakeDomain?: Places
  readonly invalidTls?: Places
}

export type AnswerPlaces = {
  readonly address: AddressPlaces
  readonly reports: ReportRowPlaces
  readonly report: ReportPlaces
  readonly scan: { readonly id: Places; readonly percent: Places }
  readonly account: {
    readonly plan?: Places
    readonly quota?: Places
    readonly memberSince?: Places
    readonly planSince?: Places
    readonly lastSeen?: Places
    readonly email?: Places
    readonly key?: Places
  }
}

type ProfileOperation = {
  readonly method: 'GET' | 'POST'
  /** Appended to the base path. `{name}` is replaced by a parameter; the others go into the query, or into the form of a POST. */
  readonly path: string
  /** Provider names of parameters that differ from ours; empty: the provider does not have it. */
  readonly parameters?: Readonly<Record<string, string>>
}

export type ProfileExample = {
  readonly operation: OperationName
  /** The address or name in question. */
  readonly asked?: string
  /** The HTTP status. */
  readonly http: number
  readonly answer?: Readonly<Record<string, unknown>>
  /** The reason of the failure. */
  readonly gives?: Reason
  /** The expected facts; others are not checked. */
  readonly facts?: Readonly<Record<string, unknown>>
}

export type ServiceProfile = {
  readonly name: string
  readonly basePath: string
  readonly key: { readonly header?: string; readonly prefix?: string; readonly query?: string }
  readonly envelope: {
    /** Absent: the HTTP status decides. */
    readonly status?: Path
    readonly success: readonly Code[]
    readonly message?: Places
  }
  /** Absent: the service does not have it. */
  readonly operations: { readonly [name in OperationName]?: ProfileOperation }
  readonly errors: readonly ErrorRow[]
  /** The names of each rating, in upper or lower case. */
  readonly ratings: { readonly [rating in Rating]: readonly string[] }
  readonly answers: AnswerPlaces
  readonly examples: readonly ProfileExample[]
}
