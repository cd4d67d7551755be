// The annotation members that rules can test, their possible values, and the operations that state each flag.
import { exposures } from '../domain/address-details.js'
import { activities } from '../domain/activity.js'
import {
  annotatedTypes,
  statuses,
  type AnnotatedIndicator,
  type AnnotatedListing,
  type Annotation,
  contentKinds,
} from '../domain/annotation.js'
import { decisions } from '../domain/decision.js'
import { levels } from '../domain/finding.js'
import { flags, type Flag } from '../domain/flag.js'
import { indicatorTypes } from '../domain/indicator.js'
import { reasons } from '../domain/reason.js'
import { actions, directions, roles, seenAs } from '../domain/sighting.js'
import { threatClasses } from '../domain/threat-class.js'
import { closestName } from './closest-name.js'

/** The key that rules use for annotations, whatever `output.key` is. */
export const annotationKey = 'threatweave'

type Values = 'any' | readonly (string | boolean)[]
const booleans = [true, false] as const

const flagMembers = Object.fromEntries(flags.map((flag) => [flag, booleans])) as unknown as Readonly<
  Record<Flag, Values>
>

/** Country and network; rules test the members of `as`, not `as` itself. */
const geoMembers = { country: 'any', 'as.number': 'any', 'as.name': 'any' } as const

const indicatorMembers: Readonly<Record<Exclude<keyof AnnotatedIndicator, 'as'>, Values>> = {
  type: annotatedTypes,
  value: 'any',
  field: 'any',
  role: roles,
  decision: decisions,
  verdict: levels,
  reason: reasons,
  score: 'any',
  threat_class: threatClasses,
  flags,
  ...geoMembers,
  source: 'any',
  feed: 'any',
  entry: 'any',
  at: 'any',
  stale: booleans,
  former: [true],
}

const listingMembers: Readonly<Record<keyof AnnotatedListing, Values>> = {
  feed: 'any',
  entry: 'any',
  level: ['malicious', 'suspicious', 'flag'],
  score: 'any',
  categories: 'any',
  since: 'any',
  expires: 'any',
}

const members: Readonly<Record<Exclude<keyof Annotation, 'indicators' | 'listings' | 'as'>, Values>> = {
  schema_version: 'any',
  status: statuses,
  verdict: levels,
  malicious: booleans,
  score: 'any',
  threat_class: threatClasses,
  accusers: 'any',
  type: annotatedTypes,
  value: 'any',
  field: 'any',
  role: roles,
  direction: directions,
  action: actions,
  activity: activities,
  password_accepted: [true],
  ...flagMembers,
  summary: 'any',
  categories: 'any',
  reason: reasons,
  ...geoMembers,
  owner: 'any',
  open_ports: 'any',
  vulnerabilities: 'any',
  exposes: exposures,
  source: 'any',
  feed: 'any',
  entry: 'any',
  verdict_time: 'any',
  stale: booleans,
  former: [true],
  truncated: [true],
  read_as: contentKinds,
  format: 'any',
  replaced: 'any',
  forged: 'any',
  enrichment_id: 'any',
  replay_id: 'any',
  indicators_omitted: 'any',
}

const paths: ReadonlyMap<string, Values> = new Map([
  ...Object.entries(members),
  ...Object.entries(listingMembers).map(([name, values]): [string, Values] => [`listings.${name}`, values]),
  ...Object.entries(indicatorMembers).map(([name, values]): [string, Values] => [`indicators.${name}`, values]),
])

/** The members that rules of one kind can test. */
export type Members = {
  /** The possible values of a member; undefined if there is no such member. */
  readonly valuesOf: (member: string) => Values | undefined
  /** The most similar member. */
  readonly closest: (wrong: string) => string | undefined
}

const membersOf = (known: ReadonlyMap<string, Values>): Members => ({
  valuesOf: (member) => known.get(member),
  closest: (wrong) => closestName(wrong, [...known.keys()]),
})

export const eventMembers = membersOf(paths)

/** Only counts are kept for past events. */
export const retroMembers = membersOf(
  new Map<string, Values>([
    ['verdict', levels],
    ['threat_class', threatClasses],
    ['type', indicatorTypes],
    ['direction', directions],
    ['action', actions],
    ['seen_as', seenAs],
    ...Object.entries(geoMembers),
    ...['value', 'score', 'categories', 'source', 'feed', 'entry', 'summary'].map((name): [string, Values] => [
      name,
      'any',
    ]),
    ...['count', 'first_seen', 'last_seen', 'peers'].map((name): [string, Values] => [name, 'any']),
  ]),
)

const byMaliciousInfo: readonly Flag[] = ['is_malicious', 'is_vpn', 'is_anonymous_vpn', 'can_remote_access']
const bySuspiciousInfo: readonly Flag[] = [
  'is_vpn',
  'is_anonymous_vpn',
  'is_proxy',
  'is_tor',
  'is_darkweb',
  'is_scanner',
  'is_snort',
  'is_hosting',
  'is_cloud',
  'is_mobile',
]

/** Operation → the flags its answer states. */
const statedBy: Readonly<Record<string, readonly Flag[]>> = {
  'ip/malicious-info': byMaliciousInfo,
  'ip/suspicious_info': bySuspiciousInfo,
  'ip/data': bySuspiciousInfo,
  'ip/vpn': ['is_vpn', 'is_proxy', 'is_tor', 'is_anonymous_vpn'],
  'ip/hosting': ['is_hosting'],
  'ip/is_safe_dns_server': ['is_safe_dns_server'],
}

const byFeeds: readonly Flag[] = ['safeguarded']

/** Flags stated by the operations, and by feeds. */
export const flagsStatedBy = (operations: readonly string[]): ReadonlySet<Flag> =>
  new Set([...operations.flatMap((operation) => statedBy[operation] ?? []), ...byFeeds])

export const operationsStating = (flag: Flag): string[] =>
  Object.keys(statedBy).filter((operation) => statedBy[operation]?.includes(flag))

export const isFlag = (name: string): name is Flag => (flags as readonly string[]).includes(name)
