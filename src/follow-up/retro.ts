// Raises retro alerts: for indicators that were delivered as clean or unknown and that a feed or the provider now calls malicious.
import type { Finding, Known } from '../domain/finding.js'
import { keyOf, type Indicator } from '../domain/indicator.js'
import type { IndicatorInRole } from '../domain/judge.js'
import { messageOf } from '../base/message-of.js'
import type { Verdict } from '../domain/verdict.js'
import type { Emit } from '../telemetry/event.js'
import type { CountedPartition, WriteRetroAlerts } from './count-partitions.js'
import type { Seen } from './seen.js'
import type { SightingCounts, Unalerted } from './sighting-counts.js'

/** The rule that applies to an indicator, and whether its alerts are summarized. */
type RetroRule = {
  readonly rule: { readonly id: string; readonly level: string }
  readonly isSummarised: boolean
}

/** One indicator in one input partition. */
type RetroHit<Match extends RetroRule> = NewlyMalicious & {
  readonly match: Match
  /** `topic/partition` */
  readonly partition: string
  readonly seen: Seen
  readonly counted: CountedPartition
  /** The counts in which it was found. They are outdated once the partition begins anew. */
  readonly counts: SightingCounts
}

/** The alerts of one partition. Summaries of the remaining hits, one per rule, go with one of the partitions. */
export type RetroAlerts<Match extends RetroRule = RetroRule> = {
  readonly hits: readonly RetroHit<Match>[]
  readonly summarised: readonly RetroHit<Match>[]
}

export type RetroOptions = {
  readonly partitions: () => ReadonlySet<CountedPartition>
  readonly judge: (finding: Finding, sighting: IndicatorInRole) => Verdict
  /** Yields to the event loop. */
  readonly turn: () => Promise<unknown>
  readonly pause: (ms: number) => Promise<unknown>
  readonly emit: Emit
  readonly now: () => number
  /** How long a bad answer remains valid. */
  readonly standsMs: number
}

/** The connections for lookups and for writing alerts. */
export type RetroConnections<Match extends RetroRule = RetroRule> = {
  /** The feed entry for the indicator in this role, at these ports. */
  readonly match: (sighting: IndicatorInRole, ports: readonly number[]) => Known | undefined
  /** The indicator to ask the provider about, if a lookup is allowed. */
  readonly askedFor: (indicator: Indicator) => Indicator | undefined
  /** The rule that applies; without a rule there is no alert. */
  readonly ruleFor: (about: NewlyMalicious & { readonly seen: Seen }) => Match | undefined
  /** Writes the alerts of a partition and marks their indicators as alerted, as one unit. */
  readonly write: (counted: CountedPartition, alerts: RetroAlerts<Match>) => ReturnType<WriteRetroAlerts>
}

export type Retro<Match extends RetroRule = RetroRule> = {
  /** News may arrive before this call, and is kept. */
  readonly start: (connections: RetroConnections<Match>) => void
  /** Call when a feed was swapped, or an entry became valid. */
  readonly feedsChanged: () => void
  /** Call when earlier counts are restored: earlier news applies to them too. */
  readonly restored: () => void
  /** Call with every answer of the provider that may be malicious. */
  readonly answered: (asked: Indicator, finding: Known) => void
  /** The number of changes so far. Take it when events are annotated, and pass it to `committed` when they are counted. */
  readonly version: () => number
  /** Applies the changes since that version to the newly counted events. */
  readonly committed: (version: number) => void
  /** Resolves when no search and no write is in progress. */
  readonly idle: () => Promise<void>
  readonly close: () => Promise<void>
}

/** Alerts per change; further hits share one summary. */
export const maxRetroAlerts = 100
/** Answers arrive one by one; those within this time are handled together. */
const gatherMs = 200
const firstAgainMs = 500
const maxAgainMs = 30_000
/** Bad answers kept for events in delivery and for counts being restored. */
const maxRecent = 1_000

export const createRetro = <Match extends RetroRule>(options: RetroOptions): Retro<Match> => {
  type Hit = RetroHit<Match>
  const { partitions, judge, turn, pause, emit, now, standsMs } = options
  let connected: RetroConnections<Match> | undefined
  let haveFeedsChanged = false
  let answers = new Map<string, Known>()
  let changes = 0
  let feedsChangedAt = 0
  const recent: { readonly at: number; readonly learntAt: number; readonly key: string; readonly finding: Known }[] = []
  let passing: Promise<void> | undefined
  let isClosed = false

  const verdictByFeeds: VerdictOf = (sighting, ports) => {
    const listed = connected?.match(sighting, ports)
    return listed && judge(listed, sighting)
  }

  /** Same order as a lookup: a feed listing decides, and the provider is asked only if the listing is safeguarded. */
  const verdictBy =
    (given: ReadonlyMap<string, Known>): VerdictOf =>
    (sighting, ports) => {
      const listed = connected?.match(sighting, ports)
      if (listed && listed.facts.flags.safeguarded !== true) return judge(listed, sighting)
      const asked = connected?.askedFor(sighting)
      const answer = asked && given.get(keyOf(asked))
      return answer && judge(answer, sighting)
    }

  const unalertedBy = function* (counts: SightingCounts, given: ReadonlyMap<string, Known>): Generator<Unalerted> {
    let hasNames = false
    for (const key of given.keys())
      if (key.startsWith('domain:')) hasNames = true
      else {
        const unalerted = counts.unalertedOf({ type: 'ip', value: key })
        if (unalerted) yield unalerted
      }
    // One answer may cover many names below it.
    if (hasNames)
      for (const unalerted of counts.unalerted(false)) if (isBelow(unalerted.indicator, given)) yield unalerted
  }

  const hitsOf = async (areFeeds: boolean, given: ReadonlyMap<string, Known>): Promise<readonly Hit[]> => {
    const hits: Hit[] = []
    for (const counted of [...partitions()]) {
      const counts = counted.counts()
      const found = [
        ...(given.size > 0 ? await newlyMalicious(unalertedBy(counts, given), verdictBy(given), turn) : []),
        ...(areFeeds ? await newlyMalicious(counts.unalerted(true), verdictByFeeds, turn) : []),
      ]
      // A feed and the provider may both have news about one indicator.
      for (const one of new Map(found.map((each) => [keyOf(each.indicator), each])).values()) {
        const seen = counts.seen(one.indicator)
        const match = seen && connected?.ruleFor({ ...one, seen })
        if (match) hits.push({ ...one, partition: counted.name, seen, counted, counts, match })
      }
    }
    return hits.toSorted((one, other) => other.seen.count - one.seen.count)
  }

  /** Retries until every alert is written or its partition has another owner. The indicators seen most get alerts of their own. */
  const writeAll = async (hits: readonly Hit[]): Promise<void> => {
    const isOurs = ({ counted, counts }: Hit): boolean => partitions().has(counted) && counted.counts() === counts
    const alone = hits.filter(({ match }) => !match.isSummarised)
    let own = alone.slice(0, maxRetroAlerts)
    let summarised = [...alone.slice(maxRetroAlerts), ...hits.filter(({ match }) => match.isSummarised)]
    /** Hits covered by a summary that another partition wrote. */
    let marks: readonly Hit[] = []
    for (let againMs = firstAgainMs; !isClosed; againMs = Math.min(2 * againMs, maxAgainMs)) {
      for (const [counted, alerts] of alertsPerPartition(own, summarised)) {
        const isStillOurs = [...alerts.hits, ...alerts.summarised.slice(0, 1)].every(isOurs)
        const written = isStillOurs ? await connected?.write(counted, alerts) : undefined
        if (written !== 'written' && written !== 'refused') continue
        own = own.filter((hit) => hit.counted !== counted)
        if (alerts.summarised.length > 0) summarised = []
        marks = [...marks, ...alerts.summarised.filter((hit) => hit.counted !== counted)]
        if (written === 'written')
          emit({
            event: 'retro_alerts_raised',
            alerts: alerts.hits.length,
            summarised: alerts.summarised.length,
            levels: levelsOf(alerts),
          })
      }
      for (const counted of new Set(marks.filter(isOurs).map((hit) => hit.counted))) {
        const about = marks.filter((hit) => hit.counted === counted).map(({ indicator }) => indicator)
        // Without a mark, the next owner of the partition would write another summary.
        const written = await counted.writeAlerts([], about)
        if (written === 'written' || written === 'refused') marks = marks.filter((hit) => hit.counted !== counted)
      }
      own = own.filter(isOurs)
      summarised = summarised.filter(isOurs)
      marks = marks.filter(isOurs)
      if (own.length + summarised.length + marks.length === 0) return
      await pause(againMs)
    }
  }

  const pass = async (): Promise<void> => {
    while (hasNews()) {
      await pause(gatherMs)
      const areFeeds = haveFeedsChanged
      const given = answers
      haveFeedsChanged = false
      answers = new Map()
      const hits = await hitsOf(areFeeds, given)
      if (hits.length > 0) await writeAll(hits)
    }
  }

  const hasNews = (): boolean => !isClosed && (haveFeedsChanged || answers.size > 0)

  const passOn = (): void => {
    if (!connected || !hasNews()) return
    passing ??= pass()
      .catch((error: unknown) => emit({ event: 'follow_up_failed', what: 'retro alerts', cause: messageOf(error) }))
      .finally(() => {
        passing = undefined
        // News that arrived after the last check.
        passOn()
      })
  }

  return {
    start: (connections) => {
      connected = connections
      passOn()
    },
    feedsChanged: () => {
      feedsChangedAt = ++changes
      haveFeedsChanged = true
      passOn()
    },
    restored: () => {
      haveFeedsChanged = true
      for (const { key, finding, learntAt } of recent) if (learntAt > now() - standsMs) answers.set(key, finding)
      passOn()
    },
    answered: (asked, finding) => {
      const key = keyOf(asked)
      recent.push({ at: ++changes, learntAt: now(), key, finding })
      if (recent.length > maxRecent) recent.shift()
      answers.set(key, finding)
      passOn()
    },
    version: () => changes,
    committed: (version) => {
      if (version === changes) return
      haveFeedsChanged ||= feedsChangedAt > version
      for (const { at, key, finding } of recent) if (at > version) answers.set(key, finding)
      passOn()
    },
    idle: async () => {
      while (passing) await passing
    },
    close: async () => {
      isClosed = true
      await passing
    },
  }
}

/** One level per alert; each rule has one summary. */
const levelsOf = ({ hits, summarised }: RetroAlerts): readonly string[] => {
  const summaries = new Map(summarised.map(({ match: { rule } }) => [rule.id, rule.level]))
  return [...hits.map(({ match }) => match.rule.level), ...summaries.values()]
}

/** The summary goes with the partition of its most frequent hit. */
const alertsPerPartition = <Match extends RetroRule>(
  own: readonly RetroHit<Match>[],
  summarised: readonly RetroHit<Match>[],
): ReadonlyMap<CountedPartition, RetroAlerts<Match>> => {
  const carrier = summarised[0]?.counted
  const all = new Set([...own, ...summarised.slice(0, 1)].map(({ counted }) => counted))
  return new Map(
    [...all].map((one) => [
      one,
      { hits: own.filter(({ counted }) => counted === one), summarised: one === carrier ? summarised : [] },
    ]),
  )
}

/** Whether the names include this one or a parent domain. */
const isBelow = ({ type, value }: Indicator, names: ReadonlyMap<string, unknown>): boolean => {
  if (type !== 'domain') return false
  for (let at = 0; at >= 0; at = value.indexOf('.', at) + 1 || -1)
    if (names.has(`domain:${value.slice(at)}`)) return true
  return false
}

// Finds indicators that were delivered as clean or unknown and are malicious by current knowledge.

type VerdictOf = (sighting: IndicatorInRole, ports: readonly number[]) => Verdict | undefined

type NewlyMalicious = { readonly indicator: Indicator; readonly verdict: Verdict }

/** Indicators checked before the search yields to the event loop. */
const sliceSize = 512

/** `verdictOf` returns the current verdict, if there is one. */
export const newlyMalicious = async (
  unalerted: Iterable<Unalerted>,
  verdictOf: VerdictOf,
  turn: () => Promise<unknown>,
): Promise<readonly NewlyMalicious[]> => {
  const found = new Map<string, NewlyMalicious>()
  let looked = 0
  for (const { indicator, roles, ports } of unalerted) {
    if (++looked % sliceSize === 0) await turn()
    for (const role of roles) {
      const verdict = verdictOf({ ...indicator, role }, ports)
      if (verdict?.level !== 'malicious') continue
      found.set(keyOf(indicator), { indicator, verdict })
      break
    }
  }
  return [...found.values()]
}
