// The types of a source file in sources/: requests to another provider and the meaning of its answers.
import type { Flag } from './flag.js'
import type { Indicator } from './indicator.js'
import type { Reason } from './reason.js'

/** Kinds of indicators; `ip` means both IPv4 and IPv6. */
export const askKinds = ['ip', 'ipv4', 'ipv6', 'domain'] as const
type AskKind = (typeof askKinds)[number]

export const limitPeriods = ['second', 'minute', 'day', 'week', 'month'] as const
export type LimitPeriod = (typeof limitPeriods)[number]
/** The maximum number of calls per period. */
export type CallLimit = { readonly calls: number; readonly per: LimitPeriod }

/** The possible meanings of an HTTP status. */
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

/** `nothing`: no opinion; later rows are ignored. */
export const sourceLevels = ['malicious', 'suspicious', 'clean', 'nothing'] as const

/** Flags that a source may set; they describe and are not judged. */
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

/** Has exactly one of `equals`, `atLeast` and `count`. */
export type SourceRow = {
  readonly path: string
  readonly equals?: Scalar
  readonly atLeast?: number
  /** The minimum number of list entries. */
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
  /** Absent if no key is needed. */
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

/** The request URL for an indicator; undefined if this kind is never sent to the source. */
export const urlFor = ({ ask }: Pick<SourceDescription, 'ask'>, { type, value }: Indicator): string | undefined => {
  const kind: AskKind = type === 'domain' ? 'domain' : value.includes(':') ? 'ipv6' : 'ipv4'
  const template = ask[kind] ?? (kind === 'domain' ? undefined : ask.ip)
  return template?.replaceAll('{value}', encodeURIComponent(value))
}
