// Chooses the rule that applies to an indicator that turned malicious after it was seen.
import type { Annotation } from '../domain/annotation.js'
import type { Geo } from '../domain/geo.js'
import type { Indicator } from '../domain/indicator.js'
import type { SeenAs, SeenTotals, Traffic } from '../domain/sighting.js'
import type { Verdict } from '../domain/verdict.js'
import { heightOf } from './choose-matches.js'
import { ruleLevels, type Rule } from './sigma/rule.js'
import type { RuleSet } from './sigma/rule-set.js'
import type { Witness } from './sigma/expression.js'

/** One indicator in one input partition. */
export type RetroSeen = {
  /** `topic/partition`. */
  readonly partition: string
  readonly indicator: Indicator
  readonly verdict: Verdict
  readonly seen: SeenTotals
  /** Country and network of an address, if a database has them. */
  readonly geo?: Geo | undefined
}

export type RetroMatch = {
  readonly rule: Rule
  /** The first direction and action that the rule matches. */
  readonly traffic: Traffic
  readonly why: readonly Witness[]
  /** Whether it has no alert of its own and appears only in the summary of its rule. */
  readonly isSummarised: boolean
}

const unknown: Traffic = { direction: 'unknown', action: 'unknown' }

/** Tests each kind of sighting separately with each direction and action; of the matching rules, the one with the highest level applies. */
export const retroMatchOf = (rules: RuleSet, about: Omit<RetroSeen, 'partition'>): RetroMatch | undefined => {
  let best: RetroMatch | undefined
  for (const { traffic, seen_as } of situationsOf(about.seen))
    for (const { rule, why } of rules.match([retroFields(about, traffic, seen_as)], () => ({ object: {} })))
      if (!best || heightOf(rule) > heightOf(best.rule))
        best = { rule, traffic, why: why(), isSummarised: heightOf(rule) <= summarised }
  return best
}

type Situation = { readonly traffic: Traffic; readonly seen_as: SeenAs }

/** Each kind of sighting, with every direction of the same action that is possible for it. */
const situationsOf = ({ kinds, traffic }: RetroSeen['seen']): readonly Situation[] => {
  if (kinds.length === 0) return [{ traffic: unknown, seen_as: 'called' }]
  return kinds.flatMap(({ seen_as, action }): readonly Situation[] => {
    const possible = traffic.filter(
      (one) => one.action === action && !(seen_as === 'called' && one.direction === 'inbound'),
    )
    return (possible.length > 0 ? possible : [{ ...unknown, action }]).map((one) => ({ traffic: one, seen_as }))
  })
}

const summarised = ruleLevels.indexOf('low')

/** The members that rules can test, named as in the alert. */
const retroFields = (
  { indicator, verdict, seen, geo }: Omit<RetroSeen, 'partition'>,
  { direction, action }: Traffic,
  seen_as: SeenAs,
): Readonly<Annotation> => {
  const { level, score, threatClass, categories, source, feed, entry } = verdict
  const fields: Annotation & Readonly<Record<RetroMember, unknown>> = {
    schema_version: 1,
    status: 'complete',
    verdict: level,
    ...indicator,
    direction,
    action,
    seen_as,
    activity: 'other',
    summary: verdict.because,
    ...(score !== undefined && { score }),
    ...(threatClass !== undefined && { threat_class: threatClass }),
    ...(categories !== undefined && { categories }),
    ...geo,
    ...(source !== undefined && { source }),
    ...(feed !== undefined && { feed }),
    ...(entry !== undefined && { entry }),
    indicators: [],
    count: seen.count,
    first_seen: new Date(seen.first).toISOString(),
    last_seen: new Date(seen.last).toISOString(),
    peers: seen.peers,
  }
  return fields
}
type RetroMember = 'seen_as' | 'count' | 'first_seen' | 'last_seen' | 'peers'
