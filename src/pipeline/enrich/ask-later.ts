// Retries lookups after temporary failures, once per indicator, for events that were written without a verdict.
import type { Clock } from '../../base/clock.js'
import { createBoundedCache } from '../../base/bounded-cache.js'
import type { Finding } from '../../domain/finding.js'
import { keyOf, ownIndicator, type Indicator } from '../../domain/indicator.js'
import type { Ask, Lookup } from '../../domain/lookup.js'
import { passes, type Reason } from '../../domain/reason.js'
import { carrySoFar } from '../../domain/so-far.js'

export type AskLater = {
  /** The result of the retry; undefined if there is none. */
  readonly of: (indicator: Indicator, ask: Ask, reason: Reason) => Promise<Finding> | undefined
  /** The result of a lookup in flight, or of its retry if it fails. */
  readonly after: (lookup: Promise<Finding>, indicator: Indicator, ask: Ask) => Promise<Finding>
  /** Called when another lookup has put the answer into the memory, so that waiting events get it without a call. */
  readonly answered: (asked: Indicator) => void
  readonly close: () => void
}

type AskLaterOptions = {
  readonly lookup: Lookup
  readonly clock: Clock
  /** Whether lookups are currently refused; such retries do not count as attempts. */
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

/** The maximum number of awaited indicators. */
const maxAwaited = 100_000
/** With pauses from 30 s, doubled each time, the attempts span a quarter of an hour. */
const firstMs = 30_000
const maxAttempts = 5
/** The maximum age of a wait: longer than a daily budget period. */
const maxAgeMs = 86_400_000
/** How long an indicator is not retried after all its attempts failed. */
const givenUpMs = 900_000
const givenUpEntries = 10_000
/** The number of retries per turn of the event loop. */
const together = 64

/** Reasons without a call: limits of the operator, or an open circuit breaker. */
const notAsked: ReadonlySet<Reason> = new Set<Reason>(['breaker_open', 'queue_full', 'budget_spent'])

export const createAskLater = ({ lookup, clock, isAway }: AskLaterOptions): AskLater => {
  const awaited = new Map<string, Awaited>()
  const byAsked = new Map<string, Set<Awaited>>()
  const wrapped = new WeakMap<Promise<Finding>, Promise<Finding>>()
  const givenUpAt = createBoundedCache<string, number>(givenUpEntries)
  /** Waiting indicators that share a timer, by pause. */
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
      // Without budget the answer comes from lookups that live events make.
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
      // Findings of sources do not wait for the main provider.
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
      // Deferred until the finished lookup is in the memory.
      queueMicrotask(() => waiting.filter(({ isOver }) => !isOver).forEach(askAgain))
    },
    close: () => {
      isClosed = true
      for (const cancel of timers) cancel()
    },
  }
}

/** The temporary reason why the main provider has no answer, if any. */
const missingIn = (finding: Finding): Reason | undefined => {
  const reason = finding.status === 'unknown' ? finding.reason : finding.without
  return reason !== undefined && passes(reason) ? reason : undefined
}

const askedKey = ({ indicator, ask: { decision } }: Pick<Awaited, 'indicator' | 'ask'>): string =>
  keyOf(decision?.decision === 'lookup' ? decision.ask : indicator)
