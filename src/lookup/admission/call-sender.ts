// Sends the calls of a key within the in-flight limit, circuit breaker, pauses and budget, each with a timeout.
import type { ProviderState } from '../../domain/provider-state.js'
import pLimit from 'p-limit'
import { afterRunning } from '../../base/after-running.js'
import type { Clock } from '../../base/clock.js'
import type { Unknown } from '../../domain/finding.js'
import type { Reason } from '../../domain/reason.js'
import type { Emit } from '../../telemetry/event.js'
import { createBudget, type BudgetSettings, type Ledger } from './budget.js'
import { createCircuitBreaker, type CircuitBreakerSettings, type Passage } from './circuit-breaker.js'
import { createInFlightLimit, type InFlight } from './in-flight-limit.js'

export type CallSettings = CircuitBreakerSettings &
  BudgetSettings & {
    readonly inFlight: InFlight
    /** A call without an answer after this time is given up. */
    readonly callTimeoutMs: number
  }

/** A further check on calls: the leader election, if one of several gateways makes them. */
export type Permit = {
  /** Undefined if a call may go now. */
  readonly check: (now: number) => Exclude<Passage, { readonly pass: 'go' }> | undefined
  /** Charges a call just before it is sent. Call the returned function once, with whether any part of the call was sent. */
  readonly charge: (now: number) => (wasSent: boolean) => void
}

type QueueOfCalls = {
  readonly isEmpty: () => boolean
  /** Called when waiting calls may be able to go. */
  readonly changed: () => void
}

type CallState = Omit<ProviderState, 'waiting' | 'latencyMs'>

/** Any result with a status; failures have the status `unknown`. */
export type Outcome = { readonly status: string }

type CallSender = {
  /** Whether a call may go now. */
  readonly look: (now: number) => Passage
  /** Waits out a pause, then sends; `took` gets the duration of the call itself. */
  readonly send: <Result extends Outcome>(
    request: () => Promise<Result | Unknown>,
    took: (ms: number) => void,
  ) => Promise<Result | Unknown>
  /** How long limits delay a call with `ahead` others before it. */
  readonly heldForMs: (now: number, ahead: number) => number
  /** Checks again after this many milliseconds. */
  readonly lookAgainIn: (ms: number) => void
  /** The number of calls that may be in flight now. */
  readonly allowed: () => number
  readonly state: () => CallState
}

export const unknown = (reason: Reason): Unknown => ({ status: 'unknown', reason })

export const createCallSender = (
  settings: CallSettings,
  clock: Clock,
  emit: Emit,
  ledger: Ledger | undefined,
  queue: QueueOfCalls,
  permit?: Permit,
): CallSender => {
  const breaker = createCircuitBreaker(settings)
  const budget = createBudget(settings, ledger)
  const inFlight = createInFlightLimit(settings.inFlight)
  const limit = pLimit(inFlight.allowed())
  /** Calls that are charged but not settled. */
  let unsettled = 0
  let cancelTimer: (() => void) | undefined
  /** Calls held back by a pause. */
  let waiting: (() => void)[] = []

  const look = (now: number): Passage => {
    const permitted = permit?.check(now)
    if (permitted?.pass === 'refuse') return permitted
    const passage = breaker.check(now)
    const spentForMs = budget.spentForMs(now)
    if (passage.pass === 'refuse') return passage
    if (spentForMs === undefined)
      return held(passage.pass === 'go' && permitted ? permitted : passage, budget.heldForMs(now))
    const finding: Unknown = { ...unknown('budget_spent'), ...(spentForMs < Infinity && { retryAfterMs: spentForMs }) }
    return { pass: 'refuse', finding }
  }
  const resume = (): void => {
    cancelTimer?.()
    cancelTimer = undefined
    const again = waiting
    waiting = []
    for (const lookAgain of again) lookAgain()
    queue.changed()
  }
  const lookAgainIn = (ms: number): void => {
    if (ms < Infinity) cancelTimer ??= clock.after(ms, resume)
  }

  /** The budget is exhausted only when no call in flight can still be refunded. */
  const settled = (now: number): void => {
    unsettled--
    if (unsettled === 0 && budget.spentForMs(now) !== undefined)
      emit({
        event: 'budget_exhausted',
        calls: budget.spent(now).run,
        ...(settings.isDefault === true && { defaultPerDay: settings.perDay }),
      })
  }
  const note = (failure: Unknown | undefined, isProbe: boolean): void => {
    const now = clock.now()
    const before = breaker.state(now)
    breaker.record(failure, isProbe, now)
    const { state, reason, until } = breaker.state(now)
    if (reason !== undefined && until !== undefined && until !== before.until)
      emit({ event: 'lookups_paused', state, reason, forMs: until - now })
    else if (state === 'open' && before.state !== 'open') emit({ event: 'lookups_resumed' })
  }

  const learn = (failure: Unknown | undefined, sentAt: number, sentBeside: number): void => {
    if (!failure) inFlight.answered(sentAt, clock.now(), limit.pendingCount > 0 || !queue.isEmpty())
    else if (isOverload(failure)) inFlight.refused(sentAt, clock.now(), sentBeside)
    if (limit.concurrency !== inFlight.allowed()) limit.concurrency = inFlight.allowed()
  }

  /** Check, charge and send happen in one turn of the event loop, so that no other call comes between them. */
  const send: CallSender['send'] = async (request, took) => {
    for (;;) {
      const sentAt = clock.now()
      const passage = look(sentAt)
      if (passage.pass === 'refuse') return passage.finding
      if (passage.pass === 'go') {
        const isProbe = breaker.tryToPass(sentAt)
        const settle = budget.charge(sentAt)
        const settlePermit = permit?.charge(sentAt)
        unsettled++
        const sentBeside = unsettled
        const answer = await giveUpAfter(settings.callTimeoutMs, request, clock)
        const failure = isFailure(answer) ? answer : undefined
        settle(failure?.isUnsent !== true)
        settlePermit?.(failure?.isUnsent !== true)
        settled(clock.now())
        note(failure, isProbe)
        took(clock.now() - sentAt)
        learn(failure, sentAt, sentBeside)
        resume()
        return answer
      }
      await new Promise<void>((resolve) => {
        waiting.push(resolve)
        lookAgainIn(passage.ms)
      })
    }
  }

  return {
    look,
    heldForMs: (now, ahead) => budget.heldForMs(now, ahead),
    send: (request, took) => limit(() => send(request, took)),
    lookAgainIn,
    allowed: inFlight.allowed,
    state: () => {
      const now = clock.now()
      const limits = budget.used(now)
      const spentForMs = budget.spentForMs(now)
      return {
        inFlight: limit.activeCount,
        allowed: inFlight.allowed(),
        ...breaker.state(now),
        spent: budget.spent(now),
        ...(spentForMs !== undefined && { budgetSpentUntil: now + spentForMs }),
        ...(settings.isGateway?.() === true && { isGateway: true }),
        ...(limits.length > 0 && { limits }),
      }
    },
  }
}

/** A limit per second or minute causes a wait, like a pause. */
const held = (passage: Passage, ms: number): Passage =>
  ms > 0 && (passage.pass === 'go' || (passage.pass === 'wait' && passage.ms < ms)) ? { pass: 'wait', ms } : passage

/** Never rejects: a source that throws gives a bad answer, and one that never settles times out. */
const giveUpAfter = <Result>(
  timeoutMs: number,
  request: () => Promise<Result | Unknown>,
  clock: Clock,
): Promise<Result | Unknown> =>
  new Promise((resolve) => {
    const cancel = afterRunning(clock, timeoutMs, () => resolve(unknown('timeout')))
    const settle = (answer: Result | Unknown): void => {
      cancel()
      resolve(answer)
    }
    const fail = (): void => settle(unknown('bad_answer'))
    try {
      request().then(settle, fail)
    } catch {
      fail()
    }
  })

const isOverload = ({ reason }: Unknown): boolean => reason === 'busy' || reason === 'throttled' || reason === 'timeout'

const isFailure = (outcome: Outcome): outcome is Unknown => outcome.status === 'unknown'
