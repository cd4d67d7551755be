// The sightings that are met again and again: what was decided about each, and how it was last judged, stands ready for the next event.
import type { Decide, Decision } from '../domain/decision.js'
import type { Finding, Unknown } from '../domain/finding.js'
import { ownText } from '../domain/own-text.js'
import { createRecent } from '../domain/recent.js'
import type { Sighting } from '../domain/sighting.js'
import type { Verdict } from '../domain/verdict.js'
import { sizeOfHeads } from './head.js'
import { judgedAs, type Judged } from './judged.js'

/** One indicator in one field and role. Flat and chained by hand: on the way through ten thousand of them every pointer costs. */
export type Acquaintance = Omit<Sighting, 'value'> & {
  readonly sighting: Sighting
  readonly decision: Decision
  /** Judged last, and until when that holds, where such a moment is known. */
  finding: Finding | undefined
  until: number | undefined
  judged: Judged
  /** How it left last without its answer. */
  unanswered: Judged | undefined
  /** The same indicator in another field or role. */
  next: Acquaintance | undefined
}

export type Acquaintances = {
  readonly of: (sighting: Sighting) => Acquaintance
  /** The same row again as long as nothing changed. */
  readonly judge: (met: Acquaintance, finding: Finding, now: number) => Judged
  /** The row of one that leaves without its answer: the same again as long as it is the same answer that is awaited. */
  readonly leave: (met: Acquaintance, missing: Unknown, late: Promise<Finding> | undefined, now: number) => Judged
}

/** Characters of what was told, and so many for each row beside them: so much is kept however it is spread over values. */
const generation = 33_554_432
const ofARow = 400
const maxAlike = 6
const longestField = 200

export const createAcquaintances = (
  decide: Decide,
  judge: (finding: Finding, sighting: Sighting, now: number) => Verdict,
): Acquaintances => {
  const recent = createRecent<Acquaintance>(generation, weightOf)
  const kept = { grew: recent.grew }

  const meet = (given: Sighting, first: Acquaintance | undefined): Acquaintance => {
    const sighting = { ...given, value: ownText(given.value), field: ownText(given.field) }
    const { type, field, role, evidence } = sighting
    const decision = decide(sighting)
    const judged = judgedAs(sighting, decision, unjudged, kept)
    const met: Acquaintance = {
      type,
      field,
      role,
      evidence,
      sighting,
      decision,
      finding: undefined,
      until: undefined,
      judged,
      unanswered: undefined,
      next: undefined,
    }
    if (field.length > longestField) return met
    if (first === undefined) recent.set(sighting.value, met)
    else {
      met.next = first.next
      first.next = met
      forgetBeyond(first, maxAlike)
      recent.grew(ofARow)
    }
    return met
  }

  return {
    of: (sighting) => {
      const first = recent.get(sighting.value)
      for (let met = first; met !== undefined; met = met.next)
        if (
          met.field === sighting.field &&
          met.role === sighting.role &&
          met.evidence === sighting.evidence &&
          met.type === sighting.type
        )
          return met
      return meet(sighting, first)
    },
    judge: (met, finding, now) => {
      if (met.finding === finding && (met.until === undefined || now < met.until)) return met.judged
      const verdict = judge(finding, met.sighting, now)
      met.finding = finding
      met.unanswered = undefined
      met.until = verdict.until
      if (met.judged.verdict !== verdict) met.judged = judgedAs(met.sighting, met.decision, verdict, kept)
      return met.judged
    },
    leave: (met, missing, late, now) => {
      const { sighting, decision, unanswered } = met
      if (unanswered !== undefined && unanswered.late === late && unanswered.verdict.reason === missing.reason)
        return unanswered
      const more = late === undefined ? kept : { ...kept, late }
      return (met.unanswered = judgedAs(sighting, decision, judge(missing, sighting, now), more))
    },
  }
}

const forgetBeyond = (first: Acquaintance, count: number): void => {
  let last = first
  for (let left = count - 1; left > 0 && last.next !== undefined; left--) last = last.next
  last.next = undefined
}

const weightOf = (first: Acquaintance): number => {
  let weight = 0
  for (let met: Acquaintance | undefined = first; met !== undefined; met = met.next) {
    const { told } = met.judged
    weight += ofARow + (told === undefined ? 0 : told.text.length + sizeOfHeads(told.head))
  }
  return weight
}

/** Stands in a row until the sighting is judged; never leaves. */
const unjudged: Verdict = { level: 'unknown', reason: 'pending', flags: {}, because: '' }
