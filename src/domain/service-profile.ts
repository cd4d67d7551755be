// How a lookup service is asked and what its answers mean: the data of sources/lookup-service.yaml, or of a file over it.
import type { Exposure } from './address-details.js'
import type { OperationName } from './operations.js'
import type { Rating } from './finding.js'
import type { Flag } from './flag.js'
import type { Reason } from './reason.js'

/** Names with dots between them; `[]` behind the name of a list stands for each of its entries. */
type Path = string
/** Where a fact may stand; the profile's reader says what several places come to. */
export type Places = Path | readonly Path[]

/** `5xx` is 500 to 599. */
type Code = number | string

/** A row without codes fits by its words alone, once no code has told. */
export type ErrorRow = {
  /** Codes of the body. */
  readonly status?: readonly Code[]
  /** Codes of HTTP. */
  readonly http?: readonly Code[]
  /** All of them are in the message, in any case. */
  readonly words?: readonly string[]
  readonly reason: (typeof errorReasons)[number]
  /** The pause before the next call, where no Retry-After says how long. */
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

/** Only these end by themselves, so only these may name a time. */
export const passingReasons: ReadonlySet<Reason> = new Set<Reason>(['busy', 'throttled', 'unavailable'])

/** How a number says a rating: the first is 1, the first is 0, or a percentage. */
export const ratingScales = ['from1', 'from0', 'percent'] as const
export type RatingPlace = Path | { readonly path: Path; readonly scale: (typeof ratingScales)[number] }
export type RatingPlaces = RatingPlace | readonly RatingPlace[]

export type AddressPlaces = {
  readonly subject?: Places
  /** Where the members stand when the subject is not at the top. */
  readonly under?: Path
  readonly flags: { readonly [flag in Flag]?: Places }
  /** True there makes it malicious, and false says nothing. */
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
  /** What everybody can reach there; counts. */
  readonly exposes?: { readonly [name in Exposure]?: Places }
  readonly owner?: Places
  readonly country?: Places
  readonly asNumber?: Places
  readonly asName?: Places
  readonly listings?: Path
}

/** Port, status (`closed` is no open one) and time are in a row. */
export type PortPlaces = {
  readonly rows: Places
  readonly port: Places
  readonly status?: Places
  readonly at?: Places
}

export type ReportRowPlaces = {
  /** The list of rows; the other places are in a row. */
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
  /** How far the clock of `at` is ahead of UTC. */
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
  /** Behind the base path; `{name}` is where a parameter goes, the others are in the query or, of a POST, in the form. */
  readonly path: string
  /** The provider's name of each parameter that is not called as here; empty: it has none. */
  readonly parameters?: Readonly<Record<string, string>>
}

export type ProfileExample = {
  readonly operation: OperationName
  /** The address or name that was asked about. */
  readonly asked?: string
  /** The HTTP status. */
  readonly http: number
  readonly answer?: Readonly<Record<string, unknown>>
  /** The reason of the failure. */
  readonly gives?: Reason
  /** Facts of the answer, as far as they are to be checked. */
  readonly facts?: Readonly<Record<string, unknown>>
}

export type ServiceProfile = {
  readonly name: string
  readonly basePath: string
  readonly key: { readonly header?: string; readonly prefix?: string; readonly query?: string }
  readonly envelope: {
    /** Absent: HTTP alone says whether it succeeded. */
    readonly status?: Path
    readonly success: readonly Code[]
    readonly message?: Places
  }
  /** Absent: the service does not have it. */
  readonly operations: { readonly [name in OperationName]?: ProfileOperation }
  readonly errors: readonly ErrorRow[]
  /** The service's words for each rating, in any case. */
  readonly ratings: { readonly [rating in Rating]: readonly string[] }
  readonly answers: AnswerPlaces
  readonly examples: readonly ProfileExample[]
}
