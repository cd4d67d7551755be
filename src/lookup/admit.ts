// Admission: the one state of an API key that decides which lookup goes next and whether a call may be sent at all.
import pLimit from 'p-limit'
import type { Clock } from '../domain/clock.js'
import type { Finding, Unknown } from '../domain/finding.js'
import { keyOf, type Indicator } from '../domain/indicator.js'
import type { Ask, Call, Lookup, Source } from '../domain/lookup.js'
import type { Reason } from '../domain/reason.js'
import { ignoreTelemetry, type Emit } from '../telemetry/event.js'
import { createBarrier, type BarrierSettings, type BarrierState, type Passage } from './admission/circuit-breaker.js'
import { createBudget, type BudgetSettings, type Ledger, type Spent } from './admission/budget.js'
import { giveUpAfter } from './admission/give-up-after.js'
import { createPace } from './admission/latency-estimate.js'
import { createWaitingRoom, type Priority } from './admission/queue.js'

export type AdmissionSettings = BarrierSettings &
  BudgetSettings & {
    /** Calls in flight at the same time. */
    readonly inFlight: number
    /** Lookups that may wait for their turn. */
    readonly maxWaiting: number
    /** A call that has not come back by then is given up. */
    readonly callTimeoutMs: number
  }

export type AdmissionState = {
  readonly waiting: number
  readonly inFlight: number
  readonly state: BarrierState
  readonly reason?: Reason
  /** Epoch milliseconds when the barrier is tried again. */
  readonly until?: number
  readonly spent: Spent
  /** What a lookup takes from its start to its finding, as observed. */
  readonly latencyMs: number
}

type Answer = { readonly status: string }

export type Admission = {
  /** Waits for a turn and then runs the task; answers at once when it is refused. Never rejects. */
  readonly run: <Result extends Answer>(
    key: string,
    priority: Priority,
    task: (call: Call) => Result | Promise<Result>,
  ) => Unknown | Promise<Result | Unknown>
  /** Somebody else asks for what already waits; it may move up. */
  readonly askedAgain: (indicator: Indicator, priority: Priority) => void
  /** When a finding can be expected, in milliseconds from now; undefined when nobody is asked about the indicator. */
  readonly estimateMs: (indicator: Indicator) => number | undefined
  readonly state: () => AdmissionState
}

export const admit =
  (admission: Admission) =>
  (source: Source): Lookup =>
  (indicator: Indicator, ask: Ask): Finding | Promise<Finding> =>
    admission.run<Finding>(keyOf(indicator), ask, (call) => source(indicator, ask, call))

type Work = { readonly start: () => Promise<void>; readonly refuse: (finding: Unknown) => void }

const unknown = (reason: Reason): Unknown => ({ status: 'unknown', reason })

export const createAdmission = (
  settings: AdmissionSettings,
  clock: Clock,
  emit: Emit = ignoreTelemetry,
  ledger?: Ledger,
): Admission => {
  const room = createWaitingRoom<Work>(settings.maxWaiting)
  const barrier = createBarrier(settings)
  const budget = createBudget(settings, ledger)
  const limit = pLimit(settings.inFlight)
  const pace = createPace(settings.inFlight)
  let active = 0
  /** Calls that are charged and not back yet. */
  let unsettled = 0
  let cancelWake: (() => void) | undefined
  /** Calls held back by a pause. */
  let held: (() => void)[] = []

  const look = (now: number): Passage => {
    const passage = barrier.look(now)
    const spentForMs = budget.spentForMs(now)
    if (passage.pass === 'refuse' || spentForMs === undefined) return passage
    const finding: Unknown = { ...unknown('budget_spent'), ...(spentForMs < Infinity && { retryAfterMs: spentForMs }) }
    return { pass: 'refuse', finding }
  }

  /** Something changed: calls held back look again, then those who wait for their turn. */
  const wake = (): void => {
    cancelWake?.()
    cancelWake = undefined
    const again = held
    held = []
    for (const resume of again) resume()
    while (active < settings.inFlight && room.size() > 0) {
      const passage = look(clock.now())
      if (passage.pass === 'wait') {
        wakeIn(passage.ms)
        return
      }
      const guest = room.next()
      if (passage.pass === 'refuse') guest?.work.refuse(passage.finding)
      else if (guest) begin(guest.key, guest.work)
    }
  }
  const wakeIn = (ms: number): void => {
    if (ms < Infinity) cancelWake ??= clock.after(ms, wake)
  }
  const begin = (key: string, work: Work): void => {
    active++
    pace.began(key, clock.now())
    void work.start().then(() => {
      active--
      pace.ended(key)
      wake()
    })
  }

  /** The budget is used up for good when no call is under way that could still be refunded. */
  const settled = (now: number): void => {
    unsettled--
    if (unsettled === 0 && budget.spentForMs(now) !== undefined)
      emit({ event: 'budget_exhausted', calls: budget.spent(now).run })
  }
  const note = (failure: Unknown | undefined, isProbe: boolean): void => {
    const now = clock.now()
    const before = barrier.state(now)
    barrier.note(failure, isProbe, now)
    const { state, reason, until } = barrier.state(now)
    if (reason !== undefined && until !== undefined && until !== before.until)
      emit({ event: 'lookups_paused', state, reason, forMs: until - now })
    else if (state === 'open' && before.state !== 'open') emit({ event: 'lookups_resumed' })
  }

  /** One call: waits out a pause, then asks for leave and is charged in the same breath in which it is sent. */
  const send = async <Result extends Answer>(
    request: () => Promise<Result | Unknown>,
    took: (ms: number) => void,
  ): Promise<Result | Unknown> => {
    for (;;) {
      const sentAt = clock.now()
      const passage = look(sentAt)
      if (passage.pass === 'refuse') return passage.finding
      if (passage.pass === 'go') {
        const isProbe = barrier.enter(sentAt)
        const settle = budget.charge(sentAt)
        unsettled++
        const answer = await giveUpAfter(settings.callTimeoutMs, request, clock)
        const failure = isFailure(answer) ? answer : undefined
        settle(failure?.isUnsent !== true)
        settled(clock.now())
        note(failure, isProbe)
        took(clock.now() - sentAt)
        wake()
        return answer
      }
      await new Promise<void>((resolve) => {
        held.push(resolve)
        wakeIn(passage.ms)
      })
    }
  }

  /** Runs a task and learns what its calls took, without the pauses between them. */
  const perform = async <Result extends Answer>(
    task: (call: Call) => Result | Promise<Result>,
  ): Promise<Result | Unknown> => {
    let totalMs: number | undefined
    const took = (ms: number): void => void (totalMs = (totalMs ?? 0) + ms)
    try {
      return await task((request) => limit(() => send(request, took)))
    } catch {
      return unknown('bad_answer')
    } finally {
      if (totalMs !== undefined) pace.took(totalMs)
    }
  }

  const run = <Result extends Answer>(
    key: string,
    priority: Priority,
    task: (call: Call) => Result | Promise<Result>,
  ): Unknown | Promise<Result | Unknown> => {
    const passage = look(clock.now())
    if (passage.pass === 'refuse') return passage.finding
    if (!room.hasPlaceFor(priority)) return unknown('queue_full')
    return new Promise((resolve) => {
      const start = (): Promise<void> => perform(task).then(resolve)
      room.enter(key, priority, { start, refuse: resolve })?.work.refuse(unknown('queue_full'))
      wake()
    })
  }

  const estimateMs = (indicator: Indicator): number | undefined => {
    const key = keyOf(indicator)
    const now = clock.now()
    const passage = look(now)
    const lookupMs = pace.leftMs(key, now, room.ahead(key))
    return lookupMs === undefined ? undefined : lookupMs + (passage.pass === 'wait' ? passage.ms : 0)
  }

  return {
    run,
    askedAgain: (indicator, priority) => room.askedAgain(keyOf(indicator), priority),
    estimateMs,
    state: () => {
      const now = clock.now()
      const spent = budget.spent(now)
      return {
        waiting: room.size(),
        inFlight: limit.activeCount,
        ...barrier.state(now),
        spent,
        latencyMs: pace.latencyMs(),
      }
    },
  }
}

const isFailure = (answer: Answer): answer is Unknown => answer.status === 'unknown'
