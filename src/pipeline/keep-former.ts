// Of an event that is judged again: where nothing newer is known than what was said before, that stands.
import type { Level } from '../domain/finding.js'
import { markOf, type FormerVerdict } from '../domain/former-verdict.js'
import { kindOf } from '../domain/reason.js'
import type { Judged } from '../domain/judged.js'

/**
 * Bad news stands for the indicator it was about, good news for all of the event. Only what says nothing is replaced: a provider's
 * `not_found` or an allow list is newer than any verdict, but that nobody was asked, or that no feed lists it any more, is not.
 */
export const keepFormer = (rows: readonly Judged[], { level, decidedBy }: FormerVerdict): readonly Judged[] => {
  if (level === 'unknown') return rows
  const isMeant = (judged: Judged): boolean =>
    saysNothing(judged) && (level === 'clean' || decidedBy === 0 || markOf(judged.sighting.value) === decidedBy)
  return rows.some(isMeant) ? rows.map((judged) => (isMeant(judged) ? asBefore(judged, level) : judged)) : rows
}

const saysNothing = ({ verdict: { level, reason } }: Judged): boolean =>
  level === 'unknown' &&
  reason !== undefined &&
  (kindOf(reason) === 'failure' || reason === 'not_listed' || reason === 'feeds_only' || reason === 'outdated')

/** The same judged sighting stands in many events, and so does what becomes of it. */
const replaced = new WeakMap<Judged, Map<Level, Judged>>()

const asBefore = (judged: Judged, level: Level): Judged => {
  const known = replaced.get(judged) ?? new Map<Level, Judged>()
  replaced.set(judged, known)
  const before = known.get(level)
  if (before) return before
  const { sighting, decision, verdict } = judged
  const why = verdict.reason?.replaceAll('_', ' ') ?? ''
  const because = `as it was judged before, nothing newer is known (${why})`
  const made: Judged = { sighting, decision, verdict: { level, flags: {}, because, former: true } }
  known.set(level, made)
  return made
}
