// The annotation: the object added to an event, flat members first.
import type { Exposure } from './address-details.js'
import type { Activity } from './activity.js'
import type { Flag } from './flag.js'
import type { Level, Listing } from './finding.js'
import type { Geo } from './geo.js'
import { indicatorTypes } from './indicator.js'
import type { Reason } from './reason.js'
import type { Action, Direction, Role } from './sighting.js'
import type { ThreatClass } from './threat-class.js'

export const statuses = ['complete', 'partial', 'failed', 'skipped'] as const
export type Status = (typeof statuses)[number]

/** `auto`: full for malicious and suspicious events, compact for the rest. */
export type Detail = 'auto' | 'full' | 'compact'

/** An indicator whose URL is listed is shown as the URL, although its host is looked up. The list may grow. */
export const annotatedTypes = [...indicatorTypes, 'url'] as const
export type AnnotatedType = (typeof annotatedTypes)[number]

/** One of several listings of the deciding indicator. */
export type AnnotatedListing = {
  readonly feed: string
  readonly entry: string
  readonly level: Listing['level']
  readonly score?: number
  readonly categories?: readonly string[]
  /** The date of the listing, if the list has one, and the expiry of the entry. */
  readonly since?: string
  readonly expires?: string
}

export type AnnotatedIndicator = {
  type: AnnotatedType
  value: string
  field: string
  role: Role
  decision: 'lookup' | 'feeds' | 'skip'
  verdict: Level
  reason?: Reason
  score?: number
  threat_class?: ThreatClass
  /** Names of the flags that are true. */
  flags?: readonly Flag[]
  /** From the databases of intel.geo, otherwise from the provider. */
  country?: string
  as?: NonNullable<Geo['as']>
  source?: string
  feed?: string
  entry?: string
  at?: string
  stale?: boolean
  /** The former verdict of a replayed event: nothing newer is known. */
  former?: true
}

/** Only `json` is a JSON object that an annotation can be inserted into. */
export const contentKinds = [
  'json',
  'text',
  'broken_json',
  'json_array',
  'json_scalar',
  'too_large',
  'not_utf8',
  'empty',
] as const
export type ContentKind = (typeof contentKinds)[number]

/** Member order is the order in the output. No member is ever null: what has no value is absent. */
export type Annotation = {
  schema_version: 1
  status: Status
  verdict: Level
  malicious?: boolean
  score?: number
  /** Of a malicious or suspicious deciding indicator. */
  threat_class?: ThreatClass
  /** The number of sources that call the deciding indicator malicious or suspicious; only with intel.sources. */
  accusers?: number
  type?: AnnotatedType
  value?: string
  field?: string
  role?: Role
  direction: Direction
  action: Action
  /** Absent in older annotations and in compact ones of clean events. */
  activity?: Activity
  /** The password was right, but a second factor or a policy stopped the login. */
  password_accepted?: true
} & { [flag in Flag]?: boolean } & {
  summary: string
  /** Categories of the deciding indicator. */
  categories?: readonly string[]
  reason?: Reason
  /** Country and network of the deciding indicator. */
  country?: string
  as?: NonNullable<Geo['as']>
  /** Descriptive facts about the deciding indicator. */
  owner?: string
  open_ports?: readonly number[]
  vulnerabilities?: readonly string[]
  exposes?: readonly Exposure[]
  source?: string
  feed?: string
  entry?: string
  /** The listings of the deciding indicator, worst first, if there are several. */
  listings?: readonly AnnotatedListing[]
  verdict_time?: string
  stale?: boolean
  /** The log format that recognised the event. */
  format?: string
  /** The former verdict of a replayed event: nothing newer is known. */
  former?: true
  truncated?: boolean
  /** The original kind of an event that was wrapped in a JSON object. */
  read_as?: Exclude<ContentKind, 'json'>
  /** The number of forged annotations that were removed, and of those that remain. */
  replaced?: number
  forged?: number
  enrichment_id?: string
  /** The replay that wrote the event. */
  replay_id?: string
  indicators: AnnotatedIndicator[]
  indicators_omitted?: number
}

/** The flat members without ids. */
export type AnnotationSummary = Omit<Annotation, 'enrichment_id' | 'replay_id' | 'indicators' | 'indicators_omitted'>
