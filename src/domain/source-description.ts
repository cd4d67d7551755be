// How another provider is asked and what its answers mean: the data of a file in sources/.
import type { Flag } from './flag.js'
import type { Indicator } from './indicator.js'
import type { Reason } from './reason.js'

/** What may be asked about; `ip` is both kinds of addresses. */
export const askKinds = ['ip', 'ipv4', 'ipv6', 'domain'] as const
type AskKind = (typeof askKinds)[number]

export const limitPeriods = ['second', 'minute', 'day', 'week', 'month'] as const
export type LimitPeriod = (typeof limitPeriods)[number]
/** So many calls in a period at most. */
export type CallLimit = { readonly calls: number; readonly per: LimitPeriod }

/** What an HTTP status may mean. */
export const statusMeanings = [
  'answer',
  'not_found',
  'bad_key',
  'bad_input',
  'throttled',
  'no_credit',
  'plan',
  'unavailable',
  'bad_answer',
] as const satisfies readonly (Reason | 'answer')[]
export type StatusMeaning = (typeof statusMeanings)[number]

/** `nothing`: no opinion, whatever the rows below say. */
export const sourceLevels = ['malicious', 'suspicious', 'clean', 'nothing'] as const

/** Flags that a source may state: those that describe. */
export const descriptiveFlags = [
  'can_remote_access',
  'is_vpn',
  'is_anonymous_vpn',
  'is_proxy',
  'is_tor',
  'is_darkweb',
  'is_scanner',
  'is_hosting',
  'is_cloud',
  'is_mobile',
  'is_safe_dns_server',
] as const satisfies readonly Flag[]
export type DescriptiveFlag = (typeof descriptiveFlags)[number]

type Scalar = string | number | boolean

/** One of `equals`, `atLeast` and `count`. */
export type SourceRow = {
  readonly path: string
  readonly equals?: Scalar
  readonly atLeast?: number
  /** The list has so many entries at least. */
  readonly count?: number
  readonly level: (typeof sourceLevels)[number]
  readonly score?: number
}

export type SourceExample = {
  readonly asked: string
  readonly status: number
  readonly answer?: Readonly<Record<string, unknown>>
  /** A level, or the reason of the failure. */
  readonly gives: (typeof sourceLevels)[number] | Reason
  readonly score?: number
  readonly categories?: readonly string[]
  readonly flags?: readonly DescriptiveFlag[]
}

export type SourceDescription = {
  readonly id: string
  readonly name: string
  readonly terms: { readonly url: string; readonly note: string }
  readonly limits: readonly CallLimit[]
  /** URLs with `{value}` where the indicator goes. */
  readonly ask: { readonly [kind in AskKind]?: string }
  /** Absent where there is no key. */
  readonly key?: {
    readonly header?: string
    readonly prefix?: string
    readonly query?: string
    readonly optional?: boolean
  }
  readonly statuses: Readonly<Record<string, StatusMeaning>>
  readonly subject?: string
  readonly rows: readonly SourceRow[]
  readonly flags: { readonly [flag in DescriptiveFlag]?: string | { readonly path: string; readonly equals: Scalar } }
  readonly categories?: { readonly path: string; readonly words: Readonly<Record<string, string>> }
  readonly since?: string
  /** How long an answer counts. */
  readonly freshHours: number
  readonly examples: readonly SourceExample[]
}

/** The URL that an indicator is asked about with; undefined where it is never sent to this source. */
export const urlFor = ({ ask }: Pick<SourceDescription, 'ask'>, { type, value }: Indicator): string | undefined => {
  const kind: AskKind = type === 'domain' ? 'domain' : value.includes(':') ? 'ipv6' : 'ipv4'
  const template = ask[kind] ?? (kind === 'domain' ? undefined : ask.ip)
  return template?.replaceAll('{value}', encodeURIComponent(value))
}
