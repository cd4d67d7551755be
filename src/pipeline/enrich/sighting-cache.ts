// Sighting cache: decision and last verdict of each sighting, reused by later events with the same sighting.
import type { Decide, Decision } from '../../domain/decision.js'
import type { Finding, Unknown } from '../../domain/finding.js'
import { ownText, createBoundedCache } from '../../base/bounded-cache.js'
import type { Sighting } from '../../domain/sighting.js'
import type { Verdict, Judged } from '../../domain/verdict.js'

/** One indicator in one field and role. Flat and linked by hand, because with ten thousand entries every pointer costs. */
export type Cached = Omit<Sighting, 'value' | 'paths' | 'port'> & {
  readonly sighting: Sighting
  decision: Decision
  /** The version of the lists by which it was decided. */
  version: number
  /** Judged last, and until when that holds, where such a moment is known. */
  finding: Finding | undefined
  until: number | undefined
  judged: Judged
  /** How it was last judged without its answer. */
  unanswered: Judged | undefined
  /** The same indicator in another field or role. */
  next: Cached | undefined
}

type SightingCache = {
  /** Decided anew where the decision held only until a moment that is past. */
  readonly of: (sighting: Sighting, now?: number) => Cached
  /** Returns the same object as long as nothing changed. */
  readonly judge: (cached: Cached, finding: Finding, now: number) => Judged
  /** The same judgement, with the answer that may come later. */
  readonly awaiting: (cached: Cached, judged: Judged, late: Promise<Finding>) => Judged
  /** For a sighting without its answer; returns the same object as long as the same answer is awaited. */
  readonly judgeUnanswered: (
    cached: Cached,
    missing: Unknown,
    late: Promise<Finding> | undefined,
    now: number,
  ) => Judged
}

/** Keeps at least this many sightings, and at most twice as many. */
const generation = 25_000
const maxAlike = 6
const longestField = 200

export const createSightingCache = (
  decide: Decide,
  judge: (finding: Finding, sighting: Sighting, now: number) => Verdict,
  /** Changes when `decide` may decide otherwise. */
  versionOf: () => number = () => 0,
): SightingCache => {
  const recent = createBoundedCache<string, Cached>(generation, countAlike)

  const add = (given: Sighting, first: Cached | undefined): Cached => {
    // Without paths and port: a listed URL is another finding, and a host has endless paths.
    const { type, role, evidence } = given
    const sighting: Sighting = { type, value: ownText(given.value), field: ownText(given.field), role, evidence }
    const { field } = sighting
    const decision = decide(sighting)
    const cached: Cached = {
      type,
      field,
      role,
      evidence,
      sighting,
      decision,
      version: versionOf(),
      finding: undefined,
      until: undefined,
      judged: judgedAs(sighting, decision, unjudged, undefined),
      unanswered: undefined,
      next: undefined,
    }
    if (field.length > longestField) return cached
    if (first === undefined) recent.set(sighting.value, cached)
    else {
      cached.next = first.next
      first.next = cached
      forgetBeyond(first, maxAlike)
      recent.addWeight(1)
    }
    return cached
  }

  const decideAnew = (cached: Cached): Cached => {
    cached.decision = decide(cached.sighting)
    cached.version = versionOf()
    cached.finding = undefined
    cached.unanswered = undefined
    cached.judged = judgedAs(cached.sighting, cached.decision, unjudged, undefined)
    return cached
  }

  return {
    of: (sighting, now = 0) => {
      const first = recent.get(sighting.value)
      for (let cached = first; cached !== undefined; cached = cached.next)
        if (
          cached.field === sighting.field &&
          cached.role === sighting.role &&
          cached.evidence === sighting.evidence &&
          cached.type === sighting.type
        )
          return isOver(cached.decision, now) || cached.version !== versionOf() ? decideAnew(cached) : cached
      return add(sighting, first)
    },
    judge: (cached, finding, now) => {
      if (cached.finding === finding && (cached.until === undefined || now < cached.until)) return cached.judged
      const verdict = judge(finding, cached.sighting, now)
      cached.finding = finding
      cached.unanswered = undefined
      cached.until = verdict.until
      if (cached.judged.verdict !== verdict)
        cached.judged = judgedAs(cached.sighting, cached.decision, verdict, undefined)
      return cached.judged
    },
    awaiting: (cached, { verdict }, late) => {
      const { sighting, decision, unanswered } = cached
      if (unanswered !== undefined && unanswered.late === late && unanswered.verdict === verdict) return unanswered
      return (cached.unanswered = judgedAs(sighting, decision, verdict, late))
    },
    judgeUnanswered: (cached, missing, late, now) => {
      const { sighting, decision, unanswered } = cached
      if (unanswered !== undefined && unanswered.late === late && unanswered.verdict.reason === missing.reason)
        return unanswered
      return (cached.unanswered = judgedAs(sighting, decision, judge(missing, sighting, now), late))
    },
  }
}

const isOver = (decision: Decision, now: number): boolean =>
  decision.decision === 'skip' && decision.until !== undefined && decision.until <= now

/** One object shape, for speed. */
const judgedAs = (
  sighting: Sighting,
  decision: Decision,
  verdict: Verdict,
  late: Promise<Finding> | undefined,
): Judged => ({ sighting, decision, verdict, late })

const forgetBeyond = (first: Cached, count: number): void => {
  let last = first
  for (let left = count - 1; left > 0 && last.next !== undefined; left--) last = last.next
  last.next = undefined
}

const countAlike = (first: Cached): number => {
  let count = 0
  for (let cached: Cached | undefined = first; cached !== undefined; cached = cached.next) count++
  return count
}

/** A placeholder until the sighting is judged. */
const unjudged: Verdict = { level: 'unknown', reason: 'pending', flags: {}, because: '' }
