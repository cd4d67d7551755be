// An alert: the rule, the event and the reason, in ECS with Splunk's two threat match fields.
import { isUtf8 } from 'node:buffer'
import type { Annotation } from '../domain/annotation.js'
import type { Witness } from './sigma/expression.js'
import { scalarText } from './sigma/field.js'
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
  }
  readonly rule: {
    readonly id: string
    readonly name: string
    readonly ruleset: 'threatweave'
    readonly description?: string
  }
  readonly tags?: readonly string[]
  readonly threat?: { readonly indicator: Readonly<Record<string, unknown>> }
  readonly related?: { readonly ip?: readonly string[]; readonly hosts?: readonly string[] }
  readonly threat_match_field?: string
  readonly threat_match_value?: string
  readonly threatweave: AlertBody
}

export type AlertBody = {
  readonly schema_version: 1
  /** A hash of rule, indicator, internal peer and time window; repeats have the same. */
  readonly alert_id: string
  readonly level: RuleLevel
  /** The origin of the event; of a late alert the first, with all in `origins`. */
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
  readonly peer?: string
  readonly matched: readonly Matched[]
} & Pick<
  Annotation,
  'status' | 'verdict' | 'score' | 'type' | 'value' | 'field' | 'role' | 'direction' | 'action' | 'summary' | 'source'
> &
  Pick<Annotation, 'categories' | 'feed' | 'entry' | 'verdict_time' | 'stale'>

export type AlertInput = {
  readonly id: string
  readonly rule: Rule
  readonly why: readonly Witness[]
  readonly annotation: Readonly<Annotation>
  readonly origin: string
  readonly key: Buffer | null | undefined
  readonly time: number
  readonly peer: string | undefined
  readonly count: number
  /** All events of a late alert. */
  readonly origins?: readonly string[]
  readonly originsOmitted?: number
  readonly replayId?: string | undefined
}

const maxMatched = 16
const maxValue = 256

export const createAlert = (input: AlertInput): Alert => {
  const { id, rule, annotation, origin, key, peer, count, origins, originsOmitted = 0, replayId } = input
  const { status, verdict, score, type, value, field, role, direction, action, summary, source } = annotation
  const { categories, feed, entry, verdict_time, stale, enrichment_id } = annotation
  return {
    '@timestamp': isoOf(input.time),
    message: `${rule.title}: ${summary}`,
    event: {
      kind: 'alert',
      category: ['threat'],
      type: ['indicator'],
      dataset: 'threatweave.alerts',
      id,
      severity: ruleLevels.indexOf(rule.level) + 1,
      ...(score !== undefined && { risk_score: score }),
    },
    rule: {
      id: rule.id,
      name: rule.title,
      ruleset: 'threatweave',
      ...(rule.description !== undefined && { description: rule.description }),
    },
    ...(rule.tags.length > 0 && { tags: rule.tags }),
    ...(value !== undefined && { threat: { indicator: indicatorOf(annotation, value) } }),
    ...relatedOf(annotation, peer),
    ...(field !== undefined && { threat_match_field: field }),
    ...(value !== undefined && { threat_match_value: value }),
    threatweave: {
      schema_version: 1,
      alert_id: id,
      level: rule.level,
      origin,
      ...keyOf(key),
      ...(enrichment_id !== undefined && { enrichment_id }),
      count,
      ...(origins && { late: true, origins }),
      ...(originsOmitted > 0 && { origins_omitted: originsOmitted }),
      ...(replayId !== undefined && { replay_id: replayId }),
      ...(peer !== undefined && { peer }),
      status,
      verdict,
      ...(score !== undefined && { score }),
      ...(type !== undefined && { type }),
      ...(value !== undefined && { value }),
      ...(field !== undefined && { field }),
      ...(role !== undefined && { role }),
      direction,
      action,
      summary,
      ...(categories !== undefined && { categories }),
      ...(source !== undefined && { source }),
      ...(feed !== undefined && { feed }),
      ...(entry !== undefined && { entry }),
      ...(verdict_time !== undefined && { verdict_time }),
      ...(stale !== undefined && { stale }),
      matched: matchedOf(input.why),
    },
  }
}

const isoOf = (time: number): string =>
  Math.abs(time) <= 8.64e15 ? new Date(time).toISOString() : new Date(0).toISOString()

const indicatorOf = ({ type, source }: Readonly<Annotation>, value: string): Readonly<Record<string, unknown>> => ({
  type: type === 'domain' ? 'domain-name' : value.includes(':') ? 'ipv6-addr' : 'ipv4-addr',
  name: value,
  ...(type === 'domain' ? { url: { domain: value } } : { ip: value }),
  ...(source !== undefined && { provider: source }),
})

const relatedOf = ({ type, value }: Readonly<Annotation>, peer: string | undefined): Pick<Alert, 'related'> => {
  const ip = [...(type === 'ip' && value !== undefined ? [value] : []), ...(peer !== undefined ? [peer] : [])]
  const hosts = type === 'domain' && value !== undefined ? [value] : []
  if (ip.length + hosts.length === 0) return {}
  return { related: { ...(ip.length > 0 && { ip }), ...(hosts.length > 0 && { hosts }) } }
}

const keyOf = (key: Buffer | null | undefined): Pick<AlertBody, 'key' | 'key_base64'> => {
  if (key === null || key === undefined) return {}
  const bytes = key.subarray(0, 1024)
  return isUtf8(key) ? { key: clip(bytes.toString('utf8')) } : { key_base64: bytes.toString('base64') }
}

export const matchedOf = (why: readonly Witness[]): Matched[] =>
  why.slice(0, maxMatched).map(({ field, value }) => ({
    field: field === '' ? 'any' : field,
    value:
      typeof value === 'number' || typeof value === 'boolean' || value === null
        ? value
        : clip(scalarText(value) ?? JSON.stringify(value ?? null)),
  }))

const clip = (text: string): string => (text.length <= maxValue ? text : `${text.slice(0, maxValue - 1)}…`)
