// Admission: the state of one API key, which decides the next lookup and estimates when an answer can be expected.
import type { ProviderState } from '../../domain/provider-state.js'
import type { Clock } from '../../base/clock.js'
import type { Unknown } from '../../domain/finding.js'
import type { Call } from '../../domain/lookup.js'
import { ignoreTelemetry, type Emit } from '../../telemetry/event.js'
import type { BudgetSettings, Ledger } from './budget.js'
import { createCallSender, unknown, type CallSettings, type Outcome, type Permit } from './call-sender.js'
import { createLatencyEstimate } from './latency-estimate.js'
import { createQueue, type Priority } from './queue.js'

export type AdmissionSettings = CallSettings & {
  /** Lookups that may wait in the queue. */
  readonly maxWaiting: number
  /** The budget, if it is counted elsewhere for several gateways together. */
  readonly fleetBudget?: Pick<BudgetSettings, 'perHour' | 'perDay'>
}

/** Limits for queue, timeout and backoff. They are not settings, because they depend on how providers fail, not on the deployment. */
export const admissionLimits: Omit<AdmissionSettings, keyof BudgetSettings | 'inFlight'> = {
  // A quarter of an hour with one call of 100 ms in flight. A dropped lookup is queued again when its indicator is seen again.
  maxWaiting: 10_000,
  // Longer than connecting and receiving the answer take under normal load.
  callTimeoutMs: 30_000,
  pauseMs: 2_000,
  maxPauseMs: 60_000,
  breakerFailures: 5,
  breakerMs: 10_000,
  maxBreakerMs: 300_000,
  // Often enough to notice a new key, rarely enough not to look like an attack.
  stopMs: 300_000,
}

export type Admission = {
  /** Waits in the queue and then runs the task; answers at once if it is refused. Never rejects. */
  readonly run: <Result extends Outcome>(
    key: string,
    priority: Priority,
    task: (call: Call) => Result | Promise<Result>,
  ) => Unknown | Promise<Result | Unknown>
  /** Reports `times` more asks for a queued lookup, which may move it up. */
  readonly askedAgain: (key: string, priority: Priority, times?: number) => void
  /** Milliseconds until a finding can be expected; undefined if its lookup is neither queued nor in flight. */
  readonly estimateMs: (key: string) => number | undefined
  /** The same for a lookup that this asker would add now, per priority class. */
  readonly estimatesMs: (asker?: string) => readonly number[]
  readonly state: () => ProviderState
}

type QueuedTask = { readonly start: () => Promise<void>; readonly refuse: (finding: Unknown) => void }

export const createAdmission = (
  settings: AdmissionSettings,
  clock: Clock,
  emit: Emit = ignoreTelemetry,
  ledger?: Ledger,
  permit?: Permit,
): Admission => {
  const { perHour, perDay } = settings.fleetBudget ?? settings
  const limitPerDay = settings.limits?.find(({ per }) => per === 'day')?.calls ?? 0
  const budget = { perHour, perDay: perDay > 0 ? perDay : limitPerDay }
  const queue = createQueue<QueuedTask>(settings.maxWaiting, { ...budget, now: () => clock.now() })
  let active = 0

  const startQueued = (): void => {
    while (active < calls.allowed() && queue.size() > 0) {
      const passage = calls.look(clock.now())
      if (passage.pass === 'wait') {
        calls.lookAgainIn(passage.ms)
        return
      }
      const next = queue.next()
      if (passage.pass === 'refuse') next?.task.refuse(passage.finding)
      else if (next) begin(next.key, next.task)
    }
  }
  const waiting = { isEmpty: () => queue.size() === 0, changed: startQueued }
  const calls = createCallSender(settings, clock, emit, ledger, waiting, permit)
  const latency = createLatencyEstimate(calls.allowed)
  const begin = (key: string, task: QueuedTask): void => {
    active++
    latency.began(key, clock.now())
    void task.start().then(() => {
      active--
      latency.ended(key)
      startQueued()
    })
  }

  /** The current pause, or the delay by limits behind `ahead` other calls if that is longer. */
  const pauseMs = (now: number, ahead = 0): number => {
    const passage = calls.look(now)
    return Math.max(passage.pass === 'wait' ? passage.ms : 0, calls.heldForMs(now, ahead))
  }

  /** Runs a task and records the duration of its calls, without the pauses between them. */
  const perform = async <Result extends Outcome>(
    priority: Priority,
    task: (call: Call) => Result | Promise<Result>,
  ): Promise<Result | Unknown> => {
    let totalMs: number | undefined
    const took = (ms: number): void => void (totalMs = (totalMs ?? 0) + ms)
    try {
      return await task((request) =>
        calls.send(() => {
          queue.called(priority)
          return request()
        }, took),
      )
    } catch {
      return unknown('bad_answer')
    } finally {
      if (totalMs !== undefined) latency.took(totalMs)
    }
  }

  return {
    run: (key, priority, task) => {
      const passage = calls.look(clock.now())
      if (passage.pass === 'refuse') return passage.finding
      if (!queue.hasPlaceFor(priority)) return unknown('queue_full')
      return new Promise((resolve) => {
        const start = (): Promise<void> => perform(priority, task).then(resolve)
        queue.add(key, priority, { start, refuse: resolve })?.task.refuse(unknown('queue_full'))
        startQueued()
      })
    },
    askedAgain: queue.askedAgain,
    estimateMs: (key) => {
      const now = clock.now()
      const ahead = queue.ahead(key)
      const lookupMs = latency.leftMs(key, now, ahead)
      return lookupMs === undefined ? undefined : lookupMs + pauseMs(now, ahead)
    },
    estimatesMs: (asker) => {
      const now = clock.now()
      return queue.aheadOfNew(asker).map((ahead) => latency.nextMs(now, ahead) + pauseMs(now, ahead))
    },
    state: () => ({ waiting: queue.size(), ...calls.state(), latencyMs: latency.latencyMs() }),
  }
}
