// Keeps the former verdict of a replayed event if there is no newer finding.
import type { Level } from '../../domain/finding.js'
import { markOf, type FormerVerdict, type Judged, type Verdict } from '../../domain/verdict.js'
import { kindOf } from '../../domain/reason.js'

/**
 * A former malicious or suspicious verdict belongs to its indicator, a former clean one to the whole event. Any answer, including
 * `not_found` or an allow list, replaces it; a failed or skipped lookup does not, nor does a feed that no longer lists it.
 */
export const keepFormer = (rows: readonly Judged[], { level, decidedBy }: FormerVerdict): readonly Judged[] => {
  if (level === 'unknown') return rows
  const keepsFormer = (judged: Judged): boolean =>
    isUninformative(judged) && (level === 'clean' || decidedBy === 0 || markOf(judged.sighting.value) === decidedBy)
  return rows.some(keepsFormer)
    ? rows.map((judged) => (keepsFormer(judged) ? withFormer(judged, level) : judged))
    : rows
}

const isUninformative = ({ verdict: { level, reason } }: Judged): boolean =>
  level === 'unknown' &&
  reason !== undefined &&
  (kindOf(reason) === 'failure' || reason === 'not_listed' || reason === 'feeds_only' || reason === 'outdated')

/** The class is unknown, because the former sources are not stored. */
const classOf = (level: Level): Pick<Verdict, 'threatClass'> =>
  level === 'malicious' || level === 'suspicious' ? { threatClass: 'uncategorized' } : {}

/** Shares replacements, like the judged sightings themselves, between events. */
const replaced = new WeakMap<Judged, Map<Level, Judged>>()

const withFormer = (judged: Judged, level: Level): Judged => {
  const known = replaced.get(judged) ?? new Map<Level, Judged>()
  replaced.set(judged, known)
  const before = known.get(level)
  if (before) return before
  const { sighting, decision, verdict } = judged
  const why = verdict.reason?.replaceAll('_', ' ') ?? ''
  const because = `former verdict, nothing newer is known (${why})`
  const made: Judged = { sighting, decision, verdict: { level, ...classOf(level), flags: {}, because, former: true } }
  known.set(level, made)
  return made
}
