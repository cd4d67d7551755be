// Who is calling and what the plan still allows: calls in flight, calls per second, credits of the month.
import { failures, tooFast, type Failure } from './answer.js'
import { findKey, type Key } from './keys.js'
import type { Credits } from './credits.js'

export type Caller = { readonly key: Key; readonly usedCredits: number }
export type CallerResult = { readonly caller: Caller; readonly leave: () => void } | { readonly failure: Failure }

export type Callers = {
  /** The caller of a key, without counting a call. */
  readonly identify: (apiKey: string | undefined) => Caller | undefined
  /** Counts a call in flight, or says why there may be none; `leave` has to be called once. */
  readonly enter: (apiKey: string | undefined) => CallerResult
  /** The same, but waits for its turn where the plan allows no further call just now. */
  readonly enterWhenFree: (apiKey: string | undefined) => Promise<CallerResult>
  /** Sets one credit aside, or says that none is left; only `settle(true)` spends it. */
  readonly reserve: (caller: Caller) => { readonly settle: (isSpent: boolean) => void } | { readonly failure: Failure }
}

type State = { inFlight: number; reserved: number; tokens: number; filledAt: number; waiting: (() => void)[] }

export const createCallers = (keys: readonly Key[], used: Credits, now: () => number): Callers => {
  const states = new Map<string, State>()
  const stateOf = ({ name, plan }: Key): State => {
    const known = states.get(name)
    if (known) return known
    const fresh = { inFlight: 0, reserved: 0, tokens: plan.perSecond ?? 0, filledAt: now(), waiting: [] }
    states.set(name, fresh)
    return fresh
  }
  /** Seconds to wait for the next call, 0 when it may go ahead. */
  const takeToken = (state: State, perSecond: number): number => {
    const at = now()
    state.tokens = Math.min(perSecond, state.tokens + ((at - state.filledAt) / 1000) * perSecond)
    state.filledAt = at
    if (state.tokens < 1) return Math.ceil((1 - state.tokens) / perSecond)
    state.tokens--
    return 0
  }
  // A question over a bulk connection costs less than a hash. Only keys that are right are in it, and a wrong one is still compared with all.
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
      state.waiting.shift()?.()
    }
    return { caller, leave }
  }
  return {
    identify,
    enter,
    enterWhenFree: async (apiKey) => {
      for (;;) {
        const entrance = enter(apiKey)
        const caller = 'failure' in entrance ? identify(apiKey) : undefined
        if (!('failure' in entrance) || !caller) return entrance
        const { retryAfterS } = entrance.failure
        await new Promise<void>((resolve) => {
          if (retryAfterS === undefined) stateOf(caller.key).waiting.push(resolve)
          else setTimeout(resolve, retryAfterS * 1000)
        })
      }
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
