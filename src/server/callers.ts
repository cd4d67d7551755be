// Authenticates clients and enforces their plans: calls in flight, calls per second, credits per month.
import type { Clock } from '../base/clock.js'
import { failures, tooFast, type Failure } from './answer.js'
import type { Priority } from '../lookup/admission/queue.js'
import { findKey, type Key } from './keys.js'
import type { Credits } from './credits.js'

export type Caller = { readonly key: Key; readonly usedCredits: number }
export type CallerResult = { readonly caller: Caller; readonly leave: () => void } | { readonly failure: Failure }

/** Requests of a key take turns with those of other keys, and their urgency is limited by its plan. */
export const priorityOfKey = ({ name, plan }: Key, asked: Priority): Priority => ({
  ...asked,
  asker: name,
  ...(plan.urgency && { urgency: plan.urgency }),
})

export type Callers = {
  /** Finds the client of a key without counting a call. */
  readonly identify: (apiKey: string | undefined) => Caller | undefined
  /** Counts a call in flight, or returns why it is refused; `leave` must be called once. */
  readonly enter: (apiKey: string | undefined) => CallerResult
  /** Like `enter`, but waits until the plan allows the call. */
  readonly enterWhenFree: (apiKey: string | undefined) => Promise<CallerResult>
  /** Reserves a credit, or fails if none is left; only `settle(true)` spends it. */
  readonly reserve: (caller: Caller) => { readonly settle: (isSpent: boolean) => void } | { readonly failure: Failure }
}

type Waiting = { readonly apiKey: string; readonly letIn: (entrance: CallerResult) => void }

type State = {
  inFlight: number
  reserved: number
  tokens: number
  filledAt: number
  /** First come, first served. */
  readonly waiting: Waiting[]
  /** Those before it are in. */
  next: number
  isTimed: boolean
}

export const createCallers = (keys: readonly Key[], used: Credits, clock: Clock): Callers => {
  const states = new Map<string, State>()
  const stateOf = ({ name, plan }: Key): State => {
    const known = states.get(name)
    if (known) return known
    const fresh: State = {
      inFlight: 0,
      reserved: 0,
      tokens: plan.perSecond ?? 0,
      filledAt: clock.now(),
      waiting: [],
      next: 0,
      isTimed: false,
    }
    states.set(name, fresh)
    return fresh
  }
  /** Seconds until the next call is allowed; 0 for now. */
  const takeToken = (state: State, perSecond: number): number => {
    const at = clock.now()
    state.tokens = Math.min(perSecond, state.tokens + ((at - state.filledAt) / 1000) * perSecond)
    state.filledAt = at
    if (state.tokens < 1) return Math.ceil((1 - state.tokens) / perSecond)
    state.tokens--
    return 0
  }
  // Caches valid keys, because a hash costs more than a bulk lookup. An invalid key is still compared with all.
  const rightKeys = new Map<string, Key>()
  const identify = (apiKey: string | undefined): Caller | undefined => {
    if (apiKey === undefined) return undefined
    const key = rightKeys.get(apiKey) ?? findKey(keys, apiKey)
    if (!key) return undefined
    rightKeys.set(apiKey, key)
    return { key, usedCredits: used.of(key.name) }
  }
  const enter = (apiKey: string | undefined): CallerResult => {
    const caller = identify(apiKey)
    if (!caller) return { failure: failures.badKey }
    const { plan } = caller.key
    const state = stateOf(caller.key)
    if (state.inFlight >= plan.inFlight) return { failure: failures.busy }
    const waitS = plan.perSecond === undefined ? 0 : takeToken(state, plan.perSecond)
    if (waitS > 0) return { failure: tooFast(waitS) }
    state.inFlight++
    const leave = (): void => {
      state.inFlight--
      letWaitingIn(state)
    }
    return { caller, leave }
  }
  /** Admits waiting calls in order, and stops at the first that has to wait longer. */
  const letWaitingIn = (state: State): void => {
    for (let first = state.waiting[state.next]; first; first = state.waiting[state.next]) {
      const entrance = enter(first.apiKey)
      if ('failure' in entrance) {
        letInAfter(state, entrance.failure.retryAfterS)
        return
      }
      state.next++
      first.letIn(entrance)
      // Compacted when half is used, so that the cost per call is constant.
      if (state.next * 2 >= state.waiting.length) {
        state.waiting.splice(0, state.next)
        state.next = 0
      }
    }
  }
  /** If the limit of calls in flight is reached, the next call that ends admits another instead. */
  const letInAfter = (state: State, seconds: number | undefined): void => {
    if (seconds === undefined || state.isTimed) return
    state.isTimed = true
    clock.after(seconds * 1_000, () => {
      state.isTimed = false
      letWaitingIn(state)
    })
  }
  return {
    identify,
    enter,
    enterWhenFree: (apiKey) => {
      const caller = identify(apiKey)
      if (!caller || apiKey === undefined) return Promise.resolve({ failure: failures.badKey })
      const state = stateOf(caller.key)
      return new Promise((resolve) => {
        state.waiting.push({ apiKey, letIn: resolve })
        if (state.waiting.length === state.next + 1) letWaitingIn(state)
      })
    },
    reserve: ({ key }) => {
      const { credits } = key.plan
      const state = stateOf(key)
      if (credits !== undefined && used.of(key.name) + state.reserved >= credits) return { failure: failures.noCredit }
      state.reserved++
      return {
        settle: (isSpent) => {
          state.reserved--
          if (isSpent) used.add(key.name)
        },
      }
    },
  }
}
