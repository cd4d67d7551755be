// Caches the decision and last verdict of each sighting for later events.
import type { Decide, Decision } from '../../domain/decision.js'
import type { Finding, Unknown } from '../../domain/finding.js'
import { ownText, createBoundedCache } from '../../base/bounded-cache.js'
import type { Sighting } from '../../domain/sighting.js'
import type { Verdict, Judged } from '../../domain/verdict.js'

/** One indicator in one field and role. A flat linked list, because with ten thousand entries every pointer costs memory. */
export type Cached = Omit<Sighting, 'value' | 'paths' | 'port'> & {
  readonly sighting: Sighting
  decision: Decision
  /** The version of the lists at the time of the decision. */
  version: number
  /** The last judged finding, and the expiry of that judgement, if any. */
  finding: Finding | undefined
  until: number | undefined
  judged: Judged
  /** The last judgement without an answer. */
  unanswered: Judged | undefined
  /** The same indicator in another field or role. */
  next: Cached | undefined
}

type SightingCache = {
  /** Decides again if the decision has expired. */
  readonly of: (sighting: Sighting, now?: number) => Cached
  /** Returns the same object until something changes. */
  readonly judge: (cached: Cached, finding: Finding, now: number) => Judged
  /** Adds the pending finding to a judgement. */
  readonly awaiting: (cached: Cached, judged: Judged, late: Promise<Finding>) => Judged
  /** Judges a sighting without an answer; returns the same object while the same lookup is pending. */
  readonly judgeUnanswered: (
    cached: Cached,
    missing: Unknown,
    late: Promise<Finding> | undefined,
    now: number,
  ) => Judged
}

/** The cache keeps at least this many sightings, and at most twice as many. */
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
    // The key has no paths and port: a listed URL is a separate finding, and a host has countless paths.
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

/** A single constructor keeps one hidden class, for speed. */
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
