// Asks again what could not be looked up for a reason that passes: once for each indicator, however many events left without its answer.
import type { Clock } from '../../base/clock.js'
import { createBoundedCache } from '../../base/bounded-cache.js'
import type { Finding } from '../../domain/finding.js'
import { keyOf, ownIndicator, type Indicator } from '../../domain/indicator.js'
import type { Ask, Lookup } from '../../domain/lookup.js'
import { passes, type Reason } from '../../domain/reason.js'
import { carrySoFar } from '../../domain/so-far.js'

export type AskLater = {
  /** The answer that comes when the reason has passed; undefined where nobody asks again. */
  readonly of: (indicator: Indicator, ask: Ask, reason: Reason) => Promise<Finding> | undefined
  /** What a lookup in flight answers, or what comes later where it fails. */
  readonly after: (lookup: Promise<Finding>, indicator: Indicator, ask: Ask) => Promise<Finding>
  /** Call when an answer about what was asked is remembered: events that came since have paid for it. */
  readonly answered: (asked: Indicator) => void
  readonly close: () => void
}

type AskLaterOptions = {
  readonly lookup: Lookup
  readonly clock: Clock
  /** Whether lookups are refused for now: such a time does not count as an attempt. */
  readonly isAway: () => boolean
}

type Awaited = {
  readonly indicator: Indicator
  readonly ask: Ask
  readonly since: number
  readonly promise: Promise<Finding>
  readonly resolve: (finding: Finding) => void
  reason: Reason
  attempts: number
  isOver: boolean
}

/** Indicators that are awaited at most. */
const maxAwaited = 100_000
/** With pauses of 30 s, doubled each time, that is a quarter of an hour. */
const firstMs = 30_000
const maxAttempts = 5
/** No outage, and no budget of a day, lasts longer. */
const maxAgeMs = 86_400_000
/** So long an indicator whose attempts all failed is not awaited again. */
const givenUpMs = 900_000
const givenUpEntries = 10_000
/** Asked in one turn of the event loop. */
const together = 64

/** Nothing was asked: the limits of the operator, or a provider that is known to be away. */
const notAsked: ReadonlySet<Reason> = new Set<Reason>(['breaker_open', 'queue_full', 'budget_spent'])

export const createAskLater = ({ lookup, clock, isAway }: AskLaterOptions): AskLater => {
  const awaited = new Map<string, Awaited>()
  const byAsked = new Map<string, Set<Awaited>>()
  const wrapped = new WeakMap<Promise<Finding>, Promise<Finding>>()
  const givenUpAt = createBoundedCache<string, number>(givenUpEntries)
  /** By pause: those that wait for the same timer. */
  const rounds = new Map<number, Awaited[]>()
  const timers = new Set<() => void>()
  let isClosed = false

  const after = (ms: number, run: () => void): void => {
    if (isClosed) return
    const cancel = clock.after(ms, () => {
      timers.delete(cancel)
      run()
    })
    timers.add(cancel)
  }

  const wait = (one: Awaited, ms: number): void => {
    const round = rounds.get(ms)
    if (round) {
      round.push(one)
      return
    }
    const started = [one]
    rounds.set(ms, started)
    after(ms, () => {
      rounds.delete(ms)
      askAll(started, 0)
    })
  }

  const askAll = (round: readonly Awaited[], from: number): void => {
    for (let at = from; at < round.length; at++) {
      const one = round[at] as Awaited
      if (one.isOver) continue
      if (clock.now() - one.since > maxAgeMs) giveUp(one)
      // What the budget did not allow is answered by lookups that live events pay for.
      else if (isAway() || one.reason === 'budget_spent') wait(one, firstMs)
      else askAgain(one)
      if ((at + 1) % together === 0) {
        after(1, () => askAll(round, at + 1))
        return
      }
    }
  }

  const askAgain = (one: Awaited): void => {
    const found = lookup(one.indicator, one.ask)
    if (found instanceof Promise) void found.then((finding) => came(one, finding))
    else came(one, found)
  }

  const came = (one: Awaited, finding: Finding): void => {
    if (one.isOver) return
    const reason = missingIn(finding)
    if (reason === undefined) {
      end(one, finding)
      return
    }
    one.reason = reason
    if (notAsked.has(reason)) wait(one, firstMs)
    else if (++one.attempts >= maxAttempts) giveUp(one)
    else wait(one, firstMs * 2 ** one.attempts)
  }

  const giveUp = (one: Awaited): void => {
    givenUpAt.set(keyOf(one.indicator), clock.now())
    end(one, { status: 'unknown', reason: one.reason })
  }

  const end = (one: Awaited, finding: Finding): void => {
    one.isOver = true
    awaited.delete(keyOf(one.indicator))
    const key = askedKey(one)
    const others = byAsked.get(key)
    others?.delete(one)
    if (others?.size === 0) byAsked.delete(key)
    one.resolve(finding)
  }

  const of: AskLater['of'] = (indicator, ask, reason) => {
    const key = keyOf(indicator)
    const known = awaited.get(key)
    if (known) return known.promise
    if (isClosed || awaited.size >= maxAwaited) return undefined
    if (clock.now() - (givenUpAt.get(key) ?? -Infinity) < givenUpMs) return undefined
    const { role, action, evidence, decision } = ask
    let resolve: Awaited['resolve'] = () => undefined
    const promise = new Promise<Finding>((settle) => {
      resolve = settle
    })
    const one: Awaited = {
      indicator: ownIndicator(indicator),
      // Events that arrive now go first.
      ask: { role, action, evidence, ...(decision && { decision }), urgency: 'replay' },
      since: clock.now(),
      promise,
      resolve,
      reason,
      attempts: 0,
      isOver: false,
    }
    awaited.set(keyOf(one.indicator), one)
    const others = byAsked.get(askedKey(one)) ?? new Set()
    byAsked.set(askedKey(one), others.add(one))
    wait(one, firstMs)
    return promise
  }

  return {
    of,
    after: (promise, indicator, ask) => {
      const known = wrapped.get(promise)
      if (known) return known
      // What sources know is not held back for the main provider.
      const orLater = (finding: Finding): Finding | Promise<Finding> =>
        (finding.status === 'unknown' && passes(finding.reason) && of(indicator, ask, finding.reason)) || finding
      const made = carrySoFar(promise, promise.then(orLater), (finding) => finding)
      wrapped.set(promise, made)
      return made
    },
    answered: (asked) => {
      const ones = byAsked.get(keyOf(asked))
      if (!ones) return
      const waiting = [...ones]
      // The lookup that was answered is not through yet.
      queueMicrotask(() => waiting.filter(({ isOver }) => !isOver).forEach(askAgain))
    },
    close: () => {
      isClosed = true
      for (const cancel of timers) cancel()
    },
  }
}

/** Why the main provider has no answer, where that passes. */
const missingIn = (finding: Finding): Reason | undefined => {
  const reason = finding.status === 'unknown' ? finding.reason : finding.without
  return reason !== undefined && passes(reason) ? reason : undefined
}

const askedKey = ({ indicator, ask: { decision } }: Pick<Awaited, 'indicator' | 'ask'>): string =>
  keyOf(decision?.decision === 'lookup' ? decision.ask : indicator)
