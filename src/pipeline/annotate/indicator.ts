// A judged sighting as the annotation lists it, and its weight in the event's verdict.
import type { AnnotatedIndicator, Status } from '../../domain/annotation.js'
import { flags } from '../../domain/flag.js'
import type { Level } from '../../domain/finding.js'
import type { Geo } from '../../domain/geo.js'
import { kindOf } from '../../domain/reason.js'
import { roles, type Extraction, type Role } from '../../domain/sighting.js'
import { placeOfClass } from '../../domain/threat-class.js'
import type { Verdict, Judged } from '../../domain/verdict.js'
import { clip } from './clip.js'

/** Strongest first. An unknown that prevents `clean` goes before clean; skipped indicators come last. */
const weights = { malicious: 0, suspicious: 1, failed: 2, missing: 3, unanswered: 4, clean: 5, skipped: 6 } as const
type Weight = (typeof weights)[keyof typeof weights]

export type Weighed = {
  readonly weight: Weight
  readonly level: Level
  readonly role: Role
  readonly placeOfClass: number
  readonly score: number
}

const placeOfRole = Object.fromEntries(roles.map((role, place) => [role, place])) as Record<Role, number>

/** Whether `a` decides rather than `b`; ties go to the first in the event. */
export const outweighs = (a: Weighed, b: Weighed): boolean => {
  if (a.weight !== b.weight) return a.weight < b.weight
  if (a.placeOfClass !== b.placeOfClass) return a.placeOfClass < b.placeOfClass
  if (a.score !== b.score) return a.score > b.score
  return placeOfRole[a.role] < placeOfRole[b.role]
}

const weightOf = ({ verdict, decision, reason }: AnnotatedIndicator): Weight => {
  if (verdict !== 'unknown') return weights[verdict]
  // All other feeds and the memory were searched.
  if (reason === 'feed_missing') return weights.missing
  const kind = reason === undefined ? 'failure' : kindOf(reason)
  if (kind === 'failure') return weights.failed
  // Not being listed in a feed does not prevent a clean verdict.
  return kind === 'answer' && decision === 'lookup' ? weights.unanswered : weights.skipped
}

export const weigh = (indicator: AnnotatedIndicator): Weighed => ({
  weight: weightOf(indicator),
  level: indicator.verdict,
  role: indicator.role,
  placeOfClass: placeOfClass(indicator.threat_class),
  score: indicator.score ?? -1,
})

/** It was deliberately not looked up. */
export const wasSkipped = (indicator: AnnotatedIndicator): boolean => weightOf(indicator) === weights.skipped

type EventOutcome<One> = {
  /** Absent without indicators, or if none may decide because some were cut off. */
  readonly deciding: One | undefined
  readonly status: Status
  readonly verdict: Level
}

/** The outcome of one event, by its indicators in order. */
export const outcomeOf = <One extends Weighed>(
  indicators: readonly One[],
  { truncated, unread }: Pick<Extraction, 'truncated' | 'unread'>,
): EventOutcome<One> => {
  let deciding: One | undefined
  let asked = 0
  let answered = 0
  let missing = 0
  for (const one of indicators) {
    if (one.weight !== weights.skipped) {
      asked++
      if (one.weight === weights.missing) missing++
      else if (one.weight !== weights.failed) answered++
    }
    if (deciding === undefined || outweighs(one, deciding)) deciding = one
  }
  // By the order of weights, clean decides only if everything that was looked up is clean.
  const isPart = truncated || unread !== undefined
  if (truncated && deciding?.level === 'clean') deciding = undefined
  // Indicators found in undecoded bytes decide only if they are malicious or suspicious.
  if (unread !== undefined && deciding !== undefined && deciding.weight > weights.suspicious) deciding = undefined
  const status = unread !== undefined && answered === 0 ? 'failed' : statusOf(asked, answered, missing, isPart)
  return { deciding, status, verdict: deciding?.level ?? 'unknown' }
}

const statusOf = (asked: number, answered: number, missing: number, truncated: boolean): Status => {
  if (asked > 0 && answered === 0 && missing === 0) return 'failed'
  if (answered < asked || truncated) return 'partial'
  return asked === 0 ? 'skipped' : 'complete'
}

const timeOf = ({ at }: Verdict): string | undefined =>
  at !== undefined && Math.abs(at) <= 8.64e15 ? new Date(at).toISOString() : undefined

const nowhere: Geo = {}

/** The network, with a name that is too long clipped. */
const networkOf = (as: NonNullable<Geo['as']>): NonNullable<Geo['as']> => {
  if (as.name === undefined) return as
  const name = clip(as.name, 100)
  return name === as.name ? as : Object.freeze({ number: as.number, name })
}

export const describeIndicator = ({ sighting, decision, verdict }: Judged, geo: Geo = nowhere): AnnotatedIndicator => {
  const url = verdict.listing?.url
  const one: AnnotatedIndicator = {
    type: url === undefined ? sighting.type : 'url',
    value: clip(url ?? sighting.value, 260),
    field: clip(sighting.field, 180),
    role: sighting.role,
    decision: decision.decision,
    verdict: verdict.level,
  }
  if (verdict.level === 'unknown') one.reason = verdict.reason ?? 'no_verdict'
  // An expired clean verdict is not used.
  if (verdict.level === 'clean' && verdict.stale === true) {
    one.verdict = 'unknown'
    one.reason = 'outdated'
  }
  if (verdict.score !== undefined && Number.isFinite(verdict.score)) one.score = verdict.score
  if (verdict.threatClass !== undefined) one.threat_class = verdict.threatClass
  const time = timeOf(verdict)
  if (one.verdict !== 'unknown') one.flags = Object.freeze(flags.filter((flag) => verdict.flags[flag] === true))
  const { country = verdict.details?.country, as = verdict.details?.as } = geo
  if (country !== undefined) one.country = country
  if (as !== undefined) one.as = networkOf(as)
  if (verdict.source !== undefined) one.source = clip(verdict.source, 100)
  if (verdict.feed !== undefined) one.feed = clip(verdict.feed, 100)
  if (verdict.entry !== undefined) one.entry = clip(verdict.entry, 160)
  if (time !== undefined) one.at = time
  if (one.verdict !== 'unknown') one.stale = verdict.stale === true
  if (verdict.former) one.former = true
  return one
}
