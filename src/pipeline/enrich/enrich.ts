// Looks up and judges every sighting of an event, and waits for lookups if allowed.
import type { Clock } from '../../base/clock.js'
import type { Decision } from '../../domain/decision.js'
import { unknownOf, type Finding } from '../../domain/finding.js'
import type { Ask, Lookup } from '../../domain/lookup.js'
import { portSeen } from '../../domain/seen-port.js'
import type { Extraction, Sighting } from '../../domain/sighting.js'
import { soFarOf } from '../../domain/so-far.js'
import { passes } from '../../domain/reason.js'
import type { Verdict, Judged } from '../../domain/verdict.js'
import type { AskLater } from './ask-later.js'
import type { InFlight, LookupInFlight } from './in-flight.js'
import { createSightingCache, type Cached } from './sighting-cache.js'
import { pending, type Wait } from './wait.js'

type EnrichOptions = {
  readonly lookup: Lookup
  readonly decide: (sighting: Sighting) => Decision
  /** A version that changes when decisions may change. */
  readonly decisions?: () => number
  readonly judge: (finding: Finding, sighting: Sighting, now: number) => Verdict
  readonly clock: Clock
  readonly inFlight: InFlight
  readonly urgency?: 'live' | 'replay'
  /** Retries for events that are written without a verdict; absent if late verdicts are not used. */
  readonly later?: Pick<AskLater, 'of' | 'after'> | undefined
  /** Uses only local and remembered findings, without a call. */
  readonly isFree?: boolean
}

/** The sightings of one event: judged, except those in `open`. */
export type EventVerdicts = { readonly judged: Judged[]; readonly open: readonly OpenSighting[] }

type OpenSighting = {
  readonly place: number
  readonly cached: Cached
  readonly ask: Ask
  found: Finding | LookupInFlight
  /** Whether the event waits for it. */
  isAwaited: boolean
}

export type Enrich = {
  /** Starts the lookups of an event; with `isFree` no paid calls are made. */
  readonly start: (extraction: Extraction, wait: Wait, now: number, isFree?: boolean) => EventVerdicts
  /**
   * Waits until the open sightings are answered or the wait is over; false if the events should stay in the topic. Synchronous if
   * there is nothing to wait for. Never rejects.
   */
  readonly wait: (rows: readonly EventVerdicts[], wait: Wait) => boolean | Promise<boolean>
  /** Judges the open sightings by current findings. */
  readonly finish: (row: EventVerdicts, wait: Wait, now: number) => readonly Judged[]
}

/** Pause before refused lookups are repeated. */
const repeatMs = 100
const maxRepeatMs = 5_000
/** The number of refused lookups retried at once while none is accepted; others follow in turn. */
const leastRepeated = 16

const none: readonly OpenSighting[] = []

export const createEnrich = (options: EnrichOptions): Enrich => {
  const { lookup, decide, judge, clock, inFlight, later } = options
  const urgency = options.urgency ?? 'live'
  const cache = createSightingCache(decide, judge, options.decisions)
  /** The number of chunks whose last retry was refused completely. */
  let refusedChunks = 0

  const track = (found: Finding | Promise<Finding>): Finding | LookupInFlight =>
    found instanceof Promise ? inFlight.of(found) : found

  const judgeFound = (cached: Cached, found: Finding, ask: Ask, now: number): Judged => {
    const judged = cache.judge(cached, found, now)
    const { reason } = judged.verdict
    if (later === undefined || reason === undefined || !passes(reason)) return judged
    const late = later.of(cached.sighting, ask, reason)
    return late ? cache.awaiting(cached, judged, late) : judged
  }

  const start: Enrich['start'] = (extraction, wait, now, isFreeEvent) => {
    const { action, sightings } = extraction
    const isFree = isFreeEvent ?? options.isFree
    const judged: Judged[] = []
    let open: OpenSighting[] | undefined
    const source = sourceOf(sightings)
    let hasSource = false
    let hasDestination = false
    for (const sighting of sightings) {
      const cached = cache.of(sighting, now)
      const { role, evidence, paths } = sighting
      let port: number | undefined
      if (sighting.type === 'ip') {
        port = portSeen(sighting, extraction, role === 'source' ? !hasSource : !hasDestination)
        hasSource ||= role === 'source'
        hasDestination ||= role === 'destination'
      }
      const peer = role === 'source' || source === undefined ? ownPeerOf(sighting) : source
      const ask: Ask = { role, action, evidence, decision: cached.decision, urgency, now, paths, port, isFree, peer }
      const given = lookup(sighting, ask)
      const found = isFreeEvent === true && given === unknownOf('pending') ? unknownOf('budget_spent') : given
      if (found instanceof Promise || !wait.isFinal(found)) {
        ;(open ??= []).push({ place: judged.length, cached, ask, found: track(found), isAwaited: false })
        judged.push(cached.judged)
      } else judged.push(judgeFound(cached, found, ask, now))
    }
    return { judged, open: open ?? none }
  }

  const isWorthWaitingFor = ({ cached: { decision } }: OpenSighting, wait: Wait): boolean =>
    decision.decision !== 'lookup' || wait.isFor(decision.ask)

  /** The pause grows with the number of refused chunks, so that the total rate of retries stays constant. Ends early with the wait. */
  const pause = async (wait: Wait): Promise<void> => {
    const until = clock.now() + Math.min(maxRepeatMs, ++refusedChunks * repeatMs)
    do await new Promise<void>((done) => clock.after(repeatMs, done))
    while (clock.now() < until && wait.goesOn())
    refusedChunks--
  }

  const settle = async (opens: readonly OpenSighting[], wait: Wait): Promise<boolean> => {
    const startedAt = clock.now()
    for (const open of opens) open.isAwaited = isWorthWaitingFor(open, wait)
    const refused: OpenSighting[] = []
    let asked = opens
    for (let refusals = 0; ;) {
      const awaited = new Set<LookupInFlight>()
      for (const { found, isAwaited } of asked)
        if (isAwaited && 'promise' in found && !found.finding) awaited.add(found)
      if (!(await inFlight.settled([...awaited], () => wait.leftMs(clock.now() - startedAt)))) return wait.goesOn()
      const again = asked.filter(({ found }) => !wait.isFinal(findingOf(found) ?? pending))
      refused.push(...again)
      if (refused.length === 0) return true
      const taken = asked.length - again.length
      if (taken > 0) refusals = 0
      else {
        if (++refusals >= wait.maxRefusals) return true
        await pause(wait)
      }
      if (!wait.goesOn()) return false
      // Retries about as many as were accepted, because retrying all would only load a full queue.
      asked = refused.splice(0, Math.max(leastRepeated, 2 * taken))
      for (const open of asked) open.found = track(lookup(open.cached.sighting, { ...open.ask, now: undefined }))
    }
  }

  /** Uses partial answers: an indicator is malicious or suspicious as soon as one source says so, while others are pending. */
  const accusedSoFar = (
    { sighting, decision }: Cached,
    late: Promise<Finding> | undefined,
    now: number,
  ): Judged | undefined => {
    const soFar = late && soFarOf(late)
    const verdict = soFar && judge(soFar, sighting, now)
    return verdict?.level === 'malicious' || verdict?.level === 'suspicious'
      ? { sighting, decision, verdict, late }
      : undefined
  }

  return {
    start,
    wait: (rows, wait) => {
      const opens = rows.flatMap(({ open }) => open)
      if (wait.leftMs(0) <= 0 || !opens.some((open) => isWorthWaitingFor(open, wait))) return wait.goesOn()
      wait.began()
      return settle(opens, wait).then(async (isWanted) => {
        wait.ended()
        await wait.turn()
        return isWanted
      })
    },
    finish: ({ judged, open }, wait, now) => {
      for (const { place, cached, ask, found, isAwaited } of open) {
        const finding = findingOf(found)
        const promise = 'promise' in found ? found.promise : undefined
        const late = promise && later && !finding ? later.after(promise, cached.sighting, ask) : promise
        judged[place] = finding
          ? judgeFound(cached, finding, ask, now)
          : (accusedSoFar(cached, late, now) ??
            cache.judgeUnanswered(cached, isAwaited ? wait.noAnswer : pending, late, now))
      }
      return judged
    },
  }
}

/** The machine that caused the event. */
const sourceOf = (sightings: readonly Sighting[]): string | undefined => {
  for (const { role, value } of sightings) if (role === 'source') return value
  return undefined
}

/** An address counts as its own peer, because the event has no other. */
const ownPeerOf = ({ type, value }: Sighting): string | undefined => (type === 'ip' ? value : undefined)

/** The finding, if it has arrived. */
const findingOf = (found: Finding | LookupInFlight): Finding | undefined => ('promise' in found ? found.finding : found)
