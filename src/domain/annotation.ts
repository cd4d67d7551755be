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

/** An indicator that is accused by a listed URL is named by it; what is looked up is its host. The list may grow. */
export const annotatedTypes = [...indicatorTypes, 'url'] as const
export type AnnotatedType = (typeof annotatedTypes)[number]

/** One of several that list the deciding indicator. */
export type AnnotatedListing = {
  readonly feed: string
  readonly entry: string
  readonly level: Listing['level']
  readonly score?: number
  readonly categories?: readonly string[]
  /** Since when, where the list says it; and until when the entry counts. */
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
  /** By the databases of intel.geo, else by the provider. */
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
  /** Of the deciding indicator, where it is accused. */
  threat_class?: ThreatClass
  /** How many accuse the deciding indicator, where sources are configured. */
  accusers?: number
  type?: AnnotatedType
  value?: string
  field?: string
  role?: Role
  direction: Direction
  action: Action
  /** What kind of thing the event reports; older annotations and compact ones of clean events do not say it. */
  activity?: Activity
  /** A login was stopped after the password was right, by a second factor or a policy. */
  password_accepted?: true
} & { [flag in Flag]?: boolean } & {
  summary: string
  /** Categories of the deciding indicator. */
  categories?: readonly string[]
  reason?: Reason
  /** Country and network of the deciding indicator. */
  country?: string
  as?: NonNullable<Geo['as']>
  /** What the provider says about the deciding indicator besides. */
  owner?: string
  open_ports?: readonly number[]
  vulnerabilities?: readonly string[]
  exposes?: readonly Exposure[]
  source?: string
  feed?: string
  entry?: string
  /** Everyone who lists the deciding indicator, worst first, where that is more than one. */
  listings?: readonly AnnotatedListing[]
  verdict_time?: string
  stale?: boolean
  /** The log format that recognised the event. */
  format?: string
  /** The former verdict of a replayed event: nothing newer is known. */
  former?: true
  truncated?: boolean
  /** What the event was, if it was not a JSON object and is wrapped in one. */
  read_as?: Exclude<ContentKind, 'json'>
  /** How many members that look like this annotation were cut out, and how many are still there. */
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
