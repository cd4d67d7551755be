// Asks further sources besides the main provider when they are due, and joins the findings: they add accusations and never remove one.
import { createBoundedCache, ownText } from '../base/bounded-cache.js'
import {
  noFacts,
  unknownOf,
  whileFeedMissing,
  type Facts,
  type Finding,
  type Known,
  type Level,
  type Listing,
} from '../domain/finding.js'
import type { Flags } from '../domain/flag.js'
import { keyOf, ownIndicator, type Indicator } from '../domain/indicator.js'
import type { Ask, Layer, Lookup } from '../domain/lookup.js'
import { kindOf } from '../domain/reason.js'
import { noteSoFar } from '../domain/so-far.js'

/** `accused`: ask if another source accuses; `unknown`: ask if the earlier ones answered without an opinion. */
export type AskMode = 'accused' | 'unknown' | 'always'

export type JoinedSource = {
  readonly id: string
  readonly ask: AskMode
  /** Whether the source supports the indicator. */
  readonly takes: (indicator: Indicator) => boolean
  readonly lookup: Lookup
}

type JoinOptions = {
  /** The worst level of facts for any role. */
  readonly classify: (finding: Known, indicator: Indicator) => Level
  /** Indicators that sources must not accuse either. */
  readonly isSafeguarded?: ((indicator: Indicator) => boolean) | undefined
  /** False: there is no main provider, and the inner lookup has no facts. */
  readonly hasMain: boolean
}

/** Index 0 is the main provider, followed by each source in order; undefined if not asked. */
type Parts = (Finding | Promise<Finding> | undefined)[]
type Settled = readonly (Finding | undefined)[]

type Opinion = 'accuses' | 'clean' | 'none' | 'failed'

/** Joined findings are reused this long without checking their parts: the answers of sources live for hours. */
const recheckMs = 15_000

/** `checkedAt`: epoch milliseconds when the parts were last checked. */
type Joined = { readonly parts: Settled; readonly finding: Finding; checkedAt: number }

/** The size of the sighting cache. */
const generation = 25_000

export const joinSources =
  (sources: readonly JoinedSource[], { classify, isSafeguarded = () => false, hasMain }: JoinOptions): Layer =>
  (main) => {
    const lookups = [main, ...sources.map(({ lookup }) => lookup)]
    const unasked = sources.map(() => undefined)
    const opinions = new WeakMap<Known, Opinion>()
    /** The same parts give the same object, because outer caches compare by identity. */
    const joined = createBoundedCache<string, Joined>(generation)
    const inFlight = new Map<string, { readonly parts: Parts; readonly promise: Promise<Finding> }>()

    const opinionOf = (finding: Finding, indicator: Indicator): Opinion => {
      if (finding.status === 'unknown') return kindOf(finding.reason) === 'answer' ? 'none' : 'failed'
      let opinion = opinions.get(finding)
      if (opinion === undefined) opinions.set(finding, (opinion = opinionBy(classify(finding, indicator))))
      return opinion
    }

    /** Asks sources as they become due, until none is; returns false if none was. */
    const askDue = (parts: Parts, indicator: Indicator, ask: Ask): boolean => {
      let isAny = false
      for (let at = 1; at <= sources.length; at++) {
        if (parts[at] !== undefined || !isDue(at, parts, indicator)) continue
        parts[at] = lookups[at]?.(indicator, ask)
        isAny = true
        // An immediate answer can make an earlier source in the list due.
        at = 0
      }
      return isAny
    }

    const isDue = (at: number, parts: Parts, indicator: Indicator): boolean => {
      const source = sources[at - 1]
      if (!source?.takes(indicator)) return false
      if (source.ask === 'always') return true
      if (source.ask === 'accused')
        return parts.some((part) => isSettled(part) && opinionOf(part, indicator) === 'accuses')
      const before = parts.filter((_, place) => {
        const other = sources[place - 1]
        return place === 0 ? hasMain : other?.ask === 'always' || (place < at && other?.ask === 'unknown')
      })
      return before.every((part) => part === undefined || (isSettled(part) && opinionOf(part, indicator) === 'none'))
    }

    const finish = (key: string, parts: Settled, indicator: Indicator, checkedAt: number): Finding => {
      const known = joined.get(key)
      if (known && isSame(known.parts, parts)) {
        known.checkedAt = checkedAt
        return known.finding
      }
      const finding = join(parts, indicator)
      joined.set(ownText(key), { parts: [...parts], finding, checkedAt })
      return finding
    }

    const join = (parts: Settled, indicator: Indicator): Finding =>
      joinFindings(parts[0], parts.slice(1), { hasMain, isSafe: isSafeguarded(indicator) })

    /** Waits for open parts, asks the sources that become due, and repeats. */
    const settle = async (key: string, parts: Parts, indicator: Indicator, ask: Ask): Promise<Finding> => {
      for (;;) {
        const open = parts.flatMap((part, at) =>
          part instanceof Promise ? [part.then((finding) => [at, finding] as const)] : [],
        )
        if (open.length === 0) break
        const [at, finding] = await Promise.race(open)
        parts[at] = finding
        askDue(parts, indicator, ask)
      }
      inFlight.delete(key)
      return finish(key, parts as Settled, indicator, -Infinity)
    }

    return (indicator, ask) => {
      const key = keyOf(indicator)
      const open = inFlight.size > 0 ? inFlight.get(key) : undefined
      if (open) {
        // Moves the lookup up in the queue of each open source.
        open.parts.forEach((part, at) => part instanceof Promise && void lookups[at]?.(indicator, ask))
        return open.promise
      }
      const first = main(indicator, ask)
      const { now = -Infinity } = ask
      const known = joined.get(key)
      if (known && known.parts[0] === first && now >= known.checkedAt && now < known.checkedAt + recheckMs)
        return known.finding
      const parts: Parts = [first, ...unasked]
      const isAnyDue = askDue(parts, indicator, ask)
      // A free ask makes no calls, so the sources that are due remain to be asked and the result is not cached.
      if (ask.isFree === true && isAnyDue) return join(parts as Settled, indicator)
      if (!isAnyDue && !(first instanceof Promise)) {
        // Cached even if no source is due: most lookups are clean, and every event takes this path.
        if (now > -Infinity) joined.set(ownText(key), { parts: [first], finding: first, checkedAt: now })
        return first
      }
      if (!parts.some((part) => part instanceof Promise)) return finish(key, parts as Settled, indicator, now)
      const own = ownIndicator(indicator)
      const ownKey = keyOf(own)
      const promise = settle(ownKey, parts, own, withoutEvent(ask))
      noteSoFar(promise, () =>
        join(
          parts.map((part) => (part instanceof Promise ? pending : part)),
          own,
        ),
      )
      inFlight.set(ownKey, { parts, promise })
      return promise
    }
  }

const pending = unknownOf('pending')
const notListed = unknownOf('not_listed')

const isSettled = (part: Finding | Promise<Finding> | undefined): part is Finding =>
  part !== undefined && !(part instanceof Promise)

const opinionBy = (level: Level): Opinion =>
  level === 'malicious' || level === 'suspicious' ? 'accuses' : level === 'clean' ? 'clean' : 'none'

/** Kept until the lookup settles, so it must not keep the event in memory. */
const withoutEvent = ({ role, action, evidence, urgency }: Ask): Ask =>
  urgency === undefined ? { role, action, evidence } : { role, action, evidence, urgency }

/** Every lookup creates new failures; those with the same reason and time are equal. */
const isSame = (before: Settled, now: Settled): boolean =>
  before.length === now.length && now.every((part, at) => part === before[at] || isSameFailure(part, before[at]))

const isSameFailure = (one: Finding | undefined, other: Finding | undefined): boolean =>
  one?.status === 'unknown' && other?.status === 'unknown' && one.reason === other.reason && one.at === other.at

/**
 * A source that did not answer rules out a clean verdict, as a missing feed does. If the main provider did not answer, sources can accuse
 * but not clear.
 */
const joinFindings = (
  main: Finding | undefined,
  parts: readonly (Finding | undefined)[],
  { hasMain, isSafe }: { readonly hasMain: boolean; readonly isSafe: boolean },
): Finding => {
  const asked = parts.filter((part) => part !== undefined)
  const known = asked.filter((part): part is Known => part.status === 'known')
  const failures = asked.filter((part) => part.status === 'unknown' && kindOf(part.reason) !== 'answer')
  const base = hasMain ? (main ?? notListed) : baseOf(asked, known)
  const finding =
    base.status === 'known' ? withFacts(base, addTo(base.facts, known, isSafe)) : alone(base, known, isSafe)
  return failures.length > 0 ? whileFeedMissing(finding) : finding
}

/** If sources add nothing, the finding stays the same object and shares its facts. */
const withFacts = (finding: Known, facts: Facts): Known => (facts === finding.facts ? finding : { ...finding, facts })

/** The base finding without a main provider: no verdict if sources have facts, otherwise a reason from the sources. */
const baseOf = (asked: readonly Finding[], known: readonly Known[]): Finding => {
  if (known.length > 0) return unknownOf('no_verdict')
  return asked.find((part) => part.status === 'unknown' && kindOf(part.reason) === 'answer') ?? asked[0] ?? notListed
}

/** A finding from the facts of sources alone. */
const alone = (base: Exclude<Finding, Known>, known: readonly Known[], isSafe: boolean): Finding => {
  const facts = addTo(noFacts, known, isSafe)
  const { listings = [], clearedBy = [], described } = facts
  const isAnswer = kindOf(base.reason) === 'answer'
  const accuses = listings.some(({ level }) => level !== 'flag')
  if (!accuses && (!isAnswer || (listings.length === 0 && clearedBy.length === 0 && described === undefined)))
    return base
  const by = known.find(({ facts: own }) => (own.listings ?? own.clearedBy) !== undefined) ?? known[0]
  const at = Math.min(...known.map((part) => part.at))
  return { status: 'known', facts, source: by?.source ?? 'source', at, without: base.reason }
}

const addTo = (facts: Facts, known: readonly Known[], isSafe: boolean): Facts => {
  if (known.every(({ facts: own }) => (own.listings ?? own.clearedBy ?? own.described) === undefined)) return facts
  const listings: Listing[] = [...(facts.listings ?? [])]
  const clearedBy: string[] = []
  let described: Flags = {}
  for (const { facts: own, stale } of known) {
    for (const listing of own.listings ?? [])
      listings.push({ ...listing, ...(isSafe && { level: 'flag' as const }), ...(stale === true && { stale }) })
    clearedBy.push(...(own.clearedBy ?? []))
    described = { ...own.described, ...described }
  }
  return {
    ...facts,
    ...(listings.length > 0 && { listings }),
    ...(clearedBy.length > 0 && { clearedBy }),
    ...(Object.keys(described).length > 0 && { described }),
  }
}
