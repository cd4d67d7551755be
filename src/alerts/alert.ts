// An alert: the rule, the event and the reason, in ECS with Splunk's two threat match fields.
import type { AlertContext } from '../domain/alert-context.js'
import type { AnnotatedListing, Annotation } from '../domain/annotation.js'
import type { Endpoint } from '../domain/endpoints.js'
import type { Attack } from './attack-tags.js'
import { ruleLevels, type Rule, type RuleLevel } from './sigma/rule.js'

export type Matched = { readonly field: string; readonly value: string | number | boolean | null }

/** Members without a value are absent; only matched values can be null. */
export type Alert = {
  /** When the event happened. */
  readonly '@timestamp': string
  readonly message: string
  readonly event: {
    readonly kind: 'alert'
    readonly category: readonly ['threat']
    readonly type: readonly ['indicator']
    readonly dataset: 'threatweave.alerts'
    readonly id: string
    /** 1 informational … 5 critical. */
    readonly severity: number
    readonly risk_score?: number
    /** The log line, clipped and without control characters; absent in a retro alert, which names its events. */
    readonly original?: string
  }
  readonly rule: {
    readonly id: string
    readonly name: string
    readonly ruleset: 'threatweave'
    readonly description?: string
  }
  readonly tags?: readonly string[]
  readonly threat?: Attack & { readonly indicator?: Readonly<Record<string, unknown>> }
  readonly source?: Endpoint
  readonly destination?: Endpoint
  /** The device that wrote the line. */
  readonly observer?: { readonly name?: string; readonly ip?: string }
  readonly related?: { readonly ip?: readonly string[]; readonly hosts?: readonly string[] }
  readonly threat_match_field?: string
  readonly threat_match_value?: string
  readonly threatweave: AlertBody
}

export type AlertBody = {
  readonly schema_version: 1
  /** A hash of rule, indicator, peer and event; a repeated alert has the same. */
  readonly alert_id: string
  /** A hash of rule, indicator, peer and time window: the same for alerts of several processes, and after a restart. */
  readonly group_id: string
  readonly level: RuleLevel
  /** The origin of the event; for a late alert the first one, with all in `origins`. */
  readonly origin: string
  readonly key?: string
  readonly key_base64?: string
  readonly enrichment_id?: string
  /** The number of matches: this one, and those suppressed since the last alert of its kind. */
  readonly count: number
  readonly late?: true
  readonly origins?: readonly string[]
  /** Further events that waited for the same answer but were not tracked. */
  readonly origins_omitted?: number
  readonly replay_id?: string
  /** The machine on the other side. */
  readonly peer?: string
  /** Other machines that matched the same rule and indicator since the last alert for this peer. */
  readonly peers?: readonly string[]
  readonly peers_omitted?: number
  /** Since when the feed lists it, if the list has a date. */
  readonly listed_since?: string
  /** When the copy of the list in use was written. */
  readonly list_time?: string
  /** All listings of the indicator, worst first, if there is more than one. */
  readonly listings?: readonly AnnotatedListing[]
  /** Other indicators of the event that the same rule matched, worst first. */
  readonly indicators?: readonly string[]
  readonly indicators_omitted?: number
  /** Details from the lookup service, with alerts.context. */
  readonly context?: AlertContext
  readonly matched: readonly Matched[]
} & Pick<
  Annotation,
  | 'status'
  | 'verdict'
  | 'score'
  | 'threat_class'
  | 'type'
  | 'value'
  | 'field'
  | 'role'
  | 'direction'
  | 'action'
  | 'activity'
  | 'summary'
  | 'source'
> &
  Pick<Annotation, 'owner' | 'open_ports' | 'vulnerabilities' | 'exposes'> &
  Pick<Annotation, 'password_accepted' | 'categories' | 'country' | 'as' | 'feed' | 'entry' | 'verdict_time' | 'stale'>

/** The members that every kind of alert starts with. `at`: when it happened, in epoch milliseconds. */
export const alertHead = (
  rule: Pick<Rule, 'id' | 'title' | 'level' | 'tags' | 'description'>,
  id: string,
  at: number,
  summary: string,
): Pick<Alert, '@timestamp' | 'message' | 'event' | 'rule' | 'tags'> => ({
  '@timestamp': isoTime(at),
  message: `${rule.title}: ${summary}`,
  event: {
    kind: 'alert',
    category: ['threat'],
    type: ['indicator'],
    dataset: 'threatweave.alerts',
    id,
    severity: ruleLevels.indexOf(rule.level) + 1,
  },
  rule: {
    id: rule.id,
    name: rule.title,
    ruleset: 'threatweave',
    ...(rule.description !== undefined && { description: rule.description }),
  },
  ...(rule.tags.length > 0 && { tags: rule.tags }),
})

/** A time outside the range of dates becomes 1 January 1970. */
export const isoTime = (time: number): string => new Date(Math.abs(time) <= 8.64e15 ? time : 0).toISOString()
