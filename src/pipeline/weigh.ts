// Weighs one indicator's verdict: what the annotation says of it, and how much it has to say in the event's verdict.
import type { AnnotatedIndicator } from '../domain/annotation.js'
import { flags, type Flag } from '../domain/flag.js'
import type { Level } from '../domain/finding.js'
import { kindOf } from '../domain/reason.js'
import { roles, type Role } from '../domain/sighting.js'
import type { Verdict } from '../domain/verdict.js'
import { clip } from './clip.js'
import type { Head } from './head.js'
import type { Row } from './row.js'
import { flat, writeIndicator } from './write-annotation.js'

/** The strongest first. An unknown that stands in the way of `clean` goes before a clean one; what was left alone, last. */
export const weights = { malicious: 0, suspicious: 1, failed: 2, unanswered: 3, clean: 4, left: 5 } as const
export type Weight = (typeof weights)[keyof typeof weights]

/** What is kept of an indicator for the next event: plain values and its text, which most events need nothing else of. */
export type Weighed = {
  readonly weight: Weight
  readonly level: Level
  readonly role: Role
  readonly score: number
  /** The indicator in writing. */
  readonly text: string
  /** The indicator itself, once somebody wanted it. */
  indicator: AnnotatedIndicator | undefined
  /** How it was told in the events that it decided. */
  head: Head | undefined
}

const placeOfRole = Object.fromEntries(roles.map((role, place) => [role, place])) as Record<Role, number>

/** Whether `a` decides rather than `b`; where neither does, the one that stands first in the event. */
export const outweighs = (a: Weighed, b: Weighed): boolean => {
  if (a.weight !== b.weight) return a.weight < b.weight
  if (a.score !== b.score) return a.score > b.score
  return placeOfRole[a.role] < placeOfRole[b.role]
}

export const weightOf = ({ verdict, decision, reason }: AnnotatedIndicator): Weight => {
  if (verdict !== 'unknown') return weights[verdict]
  const kind = reason === undefined ? 'failure' : kindOf(reason)
  if (kind === 'failure') return weights.failed
  // A feed that does not list something was not asked for a verdict, and cannot stand in the way of one.
  return kind === 'answer' && decision === 'lookup' ? weights.unanswered : weights.left
}

export const statedFlags = (verdict: Verdict): readonly Flag[] =>
  flags.filter((flag) => verdict.flags[flag] !== undefined)

const timeOf = ({ at }: Verdict): string | undefined =>
  at !== undefined && Math.abs(at) <= 8.64e15 ? new Date(at).toISOString() : undefined

export const describeIndicator = ({ sighting, decision, verdict }: Row): AnnotatedIndicator => {
  const one: AnnotatedIndicator = {
    type: sighting.type,
    value: clip(sighting.value, 260),
    field: clip(sighting.field, 180),
    role: sighting.role,
    decision: decision.decision,
    verdict: verdict?.level ?? 'unknown',
  }
  if (verdict === undefined) {
    one.reason = decision.decision === 'lookup' ? 'pending' : decision.reason
    return one
  }
  if (verdict.level === 'unknown') one.reason = verdict.reason ?? 'no_verdict'
  // Good news that is past its life is no news.
  if (verdict.level === 'clean' && verdict.stale === true) {
    one.verdict = 'unknown'
    one.reason = 'outdated'
  }
  if (verdict.score !== undefined && Number.isFinite(verdict.score)) one.score = verdict.score
  const time = timeOf(verdict)
  if (one.verdict !== 'unknown') one.flags = Object.freeze(flags.filter((flag) => verdict.flags[flag] === true))
  if (verdict.source !== undefined) one.source = clip(verdict.source, 100)
  if (verdict.feed !== undefined) one.feed = clip(verdict.feed, 100)
  if (verdict.entry !== undefined) one.entry = clip(verdict.entry, 160)
  if (time !== undefined) one.at = time
  if (one.verdict !== 'unknown') one.stale = verdict.stale === true
  return one
}

export const weigh = (row: Row): Weighed => {
  const indicator = describeIndicator(row)
  return {
    weight: weightOf(indicator),
    level: indicator.verdict,
    role: indicator.role,
    score: indicator.score ?? -1,
    text: flat(writeIndicator(indicator)),
    indicator: undefined,
    head: undefined,
  }
}

export const indicatorOf = (row: Row): AnnotatedIndicator => {
  const indicator = row.told?.indicator ?? Object.freeze(describeIndicator(row))
  if (row.told !== undefined) row.told.indicator = indicator
  return indicator
}
