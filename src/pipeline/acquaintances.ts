// The sightings that are met again and again: what was decided about each, and how it was last judged, stands ready for the next event.
import type { Decide, Decision } from '../domain/decision.js'
import type { Finding } from '../domain/finding.js'
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

const maxValues = 16_384
const maxAlike = 6

export const createAcquaintances = (
  decide: Decide,
  judge: (finding: Finding, sighting: Sighting, now: number) => Verdict,
): Acquaintances => {
  const recent = createRecent<Acquaintance[]>(maxValues)

  const meet = (given: Sighting, alike: Acquaintance[] | undefined): Acquaintance => {
    // Part of a text keeps the whole text in memory; what is kept here must stand for itself.
    const sighting = { ...given, value: copyOf(given.value), field: copyOf(given.field) }
    const decision = decide(sighting)
    const judged = judgedAs(sighting, decision, unjudged)
    const met: Acquaintance = { sighting, decision, finding: undefined, from: 0, until: 0, judged }
    if (alike === undefined) recent.set(sighting.value, [met])
    else {
      if (alike.length >= maxAlike) alike.shift()
      alike.push(met)
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
      if (met.judged.verdict !== verdict) met.judged = judgedAs(met.sighting, met.decision, verdict)
      return met.judged
    },
  }
}

const isSame = (a: Sighting, b: Sighting): boolean =>
  a.field === b.field && a.role === b.role && a.evidence === b.evidence && a.type === b.type

const copyOf = (text: string): string => {
  const encoding = /[^\0-\xff]/.test(text) ? 'utf16le' : 'latin1'
  return Buffer.from(text, encoding).toString(encoding)
}

/** Stands in a row until the sighting is judged; never leaves. */
const unjudged: Verdict = { level: 'unknown', reason: 'pending', flags: {}, because: '' }
