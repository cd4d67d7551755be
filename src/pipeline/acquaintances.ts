// The sightings that are met again and again: what was decided about each, and how it was last judged, stands ready for the next event.
import type { Decide, Decision } from '../domain/decision.js'
import type { Finding } from '../domain/finding.js'
import { ownText } from '../domain/own-text.js'
import { createRecent } from '../domain/recent.js'
import type { Sighting } from '../domain/sighting.js'
import type { Verdict } from '../domain/verdict.js'
import { judgedAs, type Judged } from './judged.js'

/** One indicator in one field and role. */
export type Acquaintance = {
  readonly sighting: Sighting
  readonly decision: Decision
  /** Judged last, and from when until when that holds. */
  finding: Finding | undefined
  from: number
  until: number
  judged: Judged
}

export type Acquaintances = {
  readonly of: (sighting: Sighting) => Acquaintance
  /** The same row again as long as nothing changed. */
  readonly judge: (met: Acquaintance, finding: Finding, now: number) => Judged
}

/** Rows and what was told of them, all together: so much of them is kept however they are spread over values. */
const generation = 32_768
const maxAlike = 6
const longestField = 200

export const createAcquaintances = (
  decide: Decide,
  judge: (finding: Finding, sighting: Sighting, now: number) => Verdict,
): Acquaintances => {
  const recent = createRecent<Acquaintance[]>(generation, weightOf)
  const kept = { grew: recent.grew }

  const meet = (given: Sighting, alike: Acquaintance[] | undefined): Acquaintance => {
    const sighting = { ...given, value: ownText(given.value), field: ownText(given.field) }
    const decision = decide(sighting)
    const judged = judgedAs(sighting, decision, unjudged, kept)
    const met: Acquaintance = { sighting, decision, finding: undefined, from: 0, until: 0, judged }
    if (sighting.field.length > longestField) return met
    if (alike === undefined) recent.set(sighting.value, [met])
    else {
      if (alike.length >= maxAlike) alike.shift()
      alike.push(met)
      recent.grew()
    }
    return met
  }

  return {
    of: (sighting) => {
      const alike = recent.get(sighting.value)
      if (alike !== undefined) for (const met of alike) if (isSame(met.sighting, sighting)) return met
      return meet(sighting, alike)
    },
    judge: (met, finding, now) => {
      if (met.finding === finding && now < met.until && now >= met.from) return met.judged
      const verdict = judge(finding, met.sighting, now)
      met.finding = finding
      met.from = now
      met.until = verdict.until ?? Infinity
      if (met.judged.verdict !== verdict) met.judged = judgedAs(met.sighting, met.decision, verdict, kept)
      return met.judged
    },
  }
}

const isSame = (a: Sighting, b: Sighting): boolean =>
  a.field === b.field && a.role === b.role && a.evidence === b.evidence && a.type === b.type

const weightOf = (alike: readonly Acquaintance[]): number =>
  alike.reduce((sum, { judged: { told } }) => sum + (told === undefined ? 1 : 2 + told.heads.length), 0)

/** Stands in a row until the sighting is judged; never leaves. */
const unjudged: Verdict = { level: 'unknown', reason: 'pending', flags: {}, because: '' }
