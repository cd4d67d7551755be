// Enrich: every sighting of a chunk gets its verdict, at once where it is known, and within one deadline where it is not.
import type { Clock } from '../domain/clock.js'
import type { Decision } from '../domain/decision.js'
import type { Finding, Unknown } from '../domain/finding.js'
import type { Indicator } from '../domain/indicator.js'
import type { Ask, Lookup } from '../domain/lookup.js'
import type { Extraction, Sighting } from '../domain/sighting.js'
import type { Verdict } from '../domain/verdict.js'
import { createSightingCache, type Cached } from './sighting-cache.js'
import { createFlights, type Flight } from './flights.js'
import type { Judged } from './judged.js'

export type { Judged }

export type EnrichOptions = {
  readonly lookup: Lookup
  readonly decide: (sighting: Sighting) => Decision
  readonly judge: (finding: Finding, sighting: Sighting, now: number) => Verdict
  readonly clock: Clock
  /** `live` waits one deadline at most, and not at all when behind; `complete` waits for every answer. */
  readonly mode: 'live' | 'complete'
  readonly deadlineMs: number
  readonly urgency?: 'live' | 'replay'
  /** When an answer can be expected; what cannot come in time is not waited for. */
  readonly estimateMs?: (asked: Indicator) => number | undefined
}

/** One row of judged sightings per extraction, in order. No promise when nothing has to be waited for. Never rejects. */
export type Enrich = (
  chunk: readonly Extraction[],
  behind: boolean,
) => readonly (readonly Judged[])[] | Promise<readonly (readonly Judged[])[]>

type Open = {
  readonly row: Judged[]
  readonly place: number
  readonly met: Cached
  readonly ask: Ask
  found: Finding | Promise<Finding>
  /** Only where somebody waits: most of what a provider in trouble leaves open is not waited for. */
  flight: Flight | undefined
}

/** The answer is on its way, but was not waited for: it could not have come in time, or the stream lags. */
const pending: Unknown = { status: 'unknown', reason: 'pending' }
/** The answer was waited for until the deadline. */
const deadline: Unknown = { status: 'unknown', reason: 'deadline' }

/** How long `complete` lets a full waiting room empty itself when nothing of its own is in it, and how often. */
const roomMs = 100
const roomTimes = 600

export const createEnrich = (options: EnrichOptions): Enrich => {
  const { lookup, decide, judge, clock, mode, deadlineMs, estimateMs } = options
  const urgency = options.urgency ?? 'live'
  const flights = createFlights()
  const cache = createSightingCache(decide, judge)

  const conclude = ({ row, place, met, found, flight }: Open, missing: Unknown, now: number): void => {
    const late = found instanceof Promise ? found : undefined
    const finding = found instanceof Promise ? flight?.finding : found
    row[place] = finding === undefined ? cache.leave(met, missing, late, now) : cache.judge(met, finding, now)
  }

  /** The lookups that have not landed yet, each once. */
  const flying = (opens: readonly Open[]): Flight[] => {
    const all = new Set<Flight>()
    for (const open of opens) {
      if (open.found instanceof Promise) open.flight ??= flights.of(open.found)
      if (open.flight && !open.flight.finding) all.add(open.flight)
    }
    return [...all]
  }

  const canCome = ({ met: { decision } }: Open): boolean =>
    decision.decision !== 'lookup' || (estimateMs?.(decision.ask) ?? 0) <= deadlineMs

  const finishLive = async (opens: readonly Open[]): Promise<void> => {
    const awaited = new Set(opens.filter(canCome))
    // The others may land meanwhile as well.
    flying(opens)
    await flights.settled(flying([...awaited]), clock, deadlineMs)
    const now = clock.now()
    for (const open of opens) conclude(open, awaited.has(open) ? deadline : pending, now)
  }

  const finishComplete = async (opens: readonly Open[]): Promise<void> => {
    for (let rounds = 0; rounds < roomTimes;) {
      const awaited = flying(opens)
      await flights.settled(awaited, clock)
      const refused = opens.filter(isRefused)
      if (refused.length === 0) break
      if (awaited.length === 0 && ++rounds < roomTimes) await new Promise<void>((done) => clock.after(roomMs, done))
      for (const open of refused) {
        open.found = lookup(open.met.sighting, { ...open.ask, now: undefined })
        open.flight = undefined
      }
    }
    const now = clock.now()
    for (const open of opens) conclude(open, pending, now)
  }

  return (chunk, behind) => {
    const opens: Open[] = []
    const rows: Judged[][] = []
    // One look at the clock for all: it takes as long as reading a field of an event.
    const now = clock.now()
    for (const { action, sightings } of chunk) {
      const row: Judged[] = []
      for (const sighting of sightings) {
        const met = cache.of(sighting)
        const { role, evidence, paths } = sighting
        const ask = { role, action, evidence, paths, decision: met.decision, urgency, now }
        const found = lookup(sighting, ask)
        if (found instanceof Promise || (mode === 'complete' && isFull(found))) {
          opens.push({ row, place: row.length, met, ask, found, flight: undefined })
          row.push(met.judged)
        } else row.push(cache.judge(met, found, now))
      }
      rows.push(row)
    }
    if (opens.length === 0) return rows
    if (mode === 'complete') return finishComplete(opens).then(() => rows)
    if (!behind && deadlineMs > 0 && opens.some(canCome)) return finishLive(opens).then(() => rows)
    for (const open of opens) conclude(open, pending, now)
    return rows
  }
}

const isFull = (finding: Finding): boolean => finding.status === 'unknown' && finding.reason === 'queue_full'
const isRefused = ({ found, flight }: Open): boolean => {
  const finding = found instanceof Promise ? flight?.finding : found
  return finding !== undefined && isFull(finding)
}
