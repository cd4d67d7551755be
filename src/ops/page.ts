// A page for people at the ops endpoint: what it is shown, and what it answers.
import type { Activity } from '../domain/activity.js'
import type { Annotation } from '../domain/annotation.js'
import type { ConsumerHealth } from '../domain/consumer-health.js'
import type { EntryCounts } from '../domain/entry-counts.js'
import type { Level } from '../domain/finding.js'
import type { AllowedCalls, ProviderState } from '../domain/provider-state.js'
import type { Action, Direction, Role, SeenTotals } from '../domain/sighting.js'
import type { Skipped } from '../domain/skipped.js'
import type { Counts } from '../telemetry/counters.js'
import type { Emit } from '../telemetry/event.js'
import type { FeedUse } from '../telemetry/feed-use.js'
import type { ProcessKind } from '../telemetry/metrics.js'
import type { OpsPage } from './server.js'

/** The displayed properties of a feed. */
export type ShownFeed = EntryCounts & {
  readonly name: string
  readonly state: string
  readonly skipped: Skipped
  readonly modified?: number
  readonly newestEntry?: number
  readonly use?: FeedUse | undefined
  readonly problem?: { readonly message: string }
  readonly fetch?: {
    readonly nextAt: number
    readonly error?: string | undefined
    readonly read?:
      { readonly pages: number; readonly objects: number; readonly cursor?: string | undefined } | undefined
  }
}

/** The displayed properties of a source. */
export type ShownSource = {
  readonly id: string
  readonly ask: string
  readonly counts: ReadonlyMap<string, number>
  readonly state: ProviderState
}

/** The displayed properties of a rule and its counts. */
export type FiredRule = {
  readonly title: string
  readonly level: string
  readonly alerts: number
  readonly matches: number
  readonly at?: number
}

/** The displayed parts of an alert. */
export type RaisedAlert = {
  readonly '@timestamp': string
  readonly event?: { readonly original?: string }
  readonly rule: { readonly id: string; readonly name: string }
  readonly threatweave: {
    readonly alert_id: string
    readonly level: string
    readonly verdict?: Level
    readonly type?: string
    readonly value?: string
    readonly summary?: string
    readonly categories?: readonly string[]
    readonly country?: string
    readonly as?: { readonly number?: number; readonly name?: string }
    readonly feed?: string
    /** `service`, `feed:<name>`, or `source:<id>`. */
    readonly source?: string
    readonly score?: number
    readonly role?: Role
    readonly direction: Direction
    readonly action: Action
    readonly activity?: Activity
    readonly password_accepted?: true
    readonly peer?: string
    readonly peers?: readonly string[]
    readonly peers_omitted?: number
    readonly indicators?: readonly string[]
    readonly users?: readonly string[]
    readonly sources?: readonly string[]
    readonly origin: string
    readonly first_seen?: string
    readonly last_seen?: string
    readonly count: number
    readonly late?: true
    readonly kind?: string
  }
}

/** Sightings of an indicator in one input partition. */
export type SeenIn = SeenTotals & { readonly partition: string }

export type SeenOf = (value: string) => readonly SeenIn[]

export type ViewSources = {
  readonly counts: () => Counts
  readonly provider?: (() => ProviderState) | undefined
  readonly consumer?: (() => ConsumerHealth) | undefined
  readonly feeds?: (() => readonly ShownFeed[]) | undefined
  /** Other providers; absent if none is configured. */
  readonly sources?: (() => readonly ShownSource[]) | undefined
  /** Alert rules, most alerts first; absent without alerts. */
  readonly rules?: (() => readonly FiredRule[]) | undefined
  readonly health: () => { readonly ok: boolean; readonly problems: readonly string[] }
  /** The maximum time that events wait for lookups. */
  readonly deadlineMs: number
  readonly allowed: AllowedCalls
  readonly version: string
}

export type PageSources = ViewSources & {
  /** Absent if sightings are not counted. */
  readonly seenOf?: SeenOf | undefined
  /** With secrets hidden. */
  readonly config: unknown
  readonly kind?: ProcessKind | undefined
}

export type Page = {
  readonly emit: Emit
  /** Called with each malicious event. */
  readonly see: (annotation: Annotation) => void
  readonly alerted: (alert: RaisedAlert) => void
  readonly open: (sources: PageSources) => OpsPage
}
