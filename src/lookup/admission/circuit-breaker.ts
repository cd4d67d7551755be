// The circuit breaker: a pause, repeated failures or a refused key stop the calls of a key for a time; then one probe decides.
import type { Unknown } from '../../domain/finding.js'
import type { Reason } from '../../domain/reason.js'

export type CircuitBreakerSettings = {
  /** The pause if the provider does not say how long; it doubles with every further refusal. */
  readonly pauseMs: number
  /** The longest pause that lookups wait for; during a longer one they are refused. */
  readonly maxPauseMs: number
  /** Consecutive failed calls (unreachable, timed out, server errors) that open the breaker. */
  readonly breakerFailures: number
  readonly breakerMs: number
  readonly maxBreakerMs: number
  /** How long calls stop after the key or credit was refused twice in a row; then one probe is sent, and so on. */
  readonly stopMs: number
}

export type Passage =
  | { readonly pass: 'go' }
  /** `ms` is Infinity while a probe is in flight; waiting calls check again when it returns. */
  | { readonly pass: 'wait'; readonly ms: number }
  | { readonly pass: 'refuse'; readonly finding: Unknown }

type CircuitState = 'open' | 'paused' | 'breaker_open' | 'stopped' | 'probing'

type CircuitBreaker = {
  readonly check: (now: number) => Passage
  /** To be called just before a call is sent, after `check` said go; true if this call is the probe. */
  readonly tryToPass: (now: number) => boolean
  /** Records the failure of a call; undefined if it was answered. */
  readonly record: (failure: Unknown | undefined, isProbe: boolean, now: number) => void
  readonly state: (now: number) => { readonly state: CircuitState; readonly reason?: Reason; readonly until?: number }
}

type Stop = { kind: 'paused' | 'breaker_open' | 'stopped'; reason: Reason; until: number; probing: boolean }

/** The longest stop that a provider can impose with one header. */
const longestMs = 24 * 3_600_000

export const createCircuitBreaker = (settings: CircuitBreakerSettings): CircuitBreaker => {
  let stop: Stop | undefined
  let failures = 0
  let pauses = 0
  let breaks = 0
  /** Why the last call was refused, if the reason was the key or its credit. */
  let refusedFor: Reason | undefined

  const stopFor = (kind: Stop['kind'], reason: Reason, ms: number, now: number): void => {
    const until = now + Math.min(ms, longestMs)
    stop = { kind, reason, until: Math.max(until, stop?.until ?? 0), probing: false }
  }

  const noteFailure = (failure: Unknown, isProbe: boolean, now: number): void => {
    const { reason, retryAfterMs } = failure
    // Calls that were already in flight at the stop only prolong it.
    const isFirst = isProbe || !stop
    const isBroken = reason === 'unavailable' || reason === 'timeout'
    if (isBroken) failures++
    if (reason === 'bad_key' || reason === 'no_credit') {
      // A single refusal may come from something in between, so it causes a pause; the probe after it decides.
      if (isFirst && refusedFor === reason) stopFor('stopped', reason, settings.stopMs, now)
      else if (isFirst) stopFor('paused', reason, settings.pauseMs, now)
      if (isFirst) refusedFor = reason
      return
    }
    refusedFor = undefined
    if (reason === 'busy' || reason === 'throttled' || (isBroken && retryAfterMs !== undefined)) {
      if (isFirst) pauses++
      const doubledMs = Math.min(settings.pauseMs * 2 ** Math.min(pauses - 1, 30), settings.maxPauseMs)
      stopFor('paused', reason, retryAfterMs ?? doubledMs, now)
    } else if (isFirst && (isProbe || failures >= settings.breakerFailures)) {
      const openMs = Math.min(settings.breakerMs * 2 ** Math.min(breaks++, 30), settings.maxBreakerMs)
      stopFor('breaker_open', 'breaker_open', openMs, now)
    }
  }

  return {
    check: (now) => {
      if (!stop) return { pass: 'go' }
      const leftMs = stop.until - now
      if (leftMs <= 0 && !stop.probing) return { pass: 'go' }
      if (stop.kind === 'paused' && leftMs <= settings.maxPauseMs)
        return { pass: 'wait', ms: leftMs > 0 ? leftMs : Infinity }
      const finding: Unknown = { status: 'unknown', reason: stop.reason, ...(leftMs > 0 && { retryAfterMs: leftMs }) }
      return { pass: 'refuse', finding }
    },
    tryToPass: (now) => {
      if (!stop || now < stop.until || stop.probing) return false
      stop.probing = true
      return true
    },
    record: (failure, isProbe, now) => {
      if (failure && stopping.has(failure.reason)) {
        noteFailure(failure, isProbe, now)
        return
      }
      if (stop && !isProbe) return
      stop = undefined
      failures = pauses = breaks = 0
      refusedFor = undefined
    },
    state: (now) => {
      if (!stop) return { state: 'open' }
      const state = now >= stop.until ? 'probing' : stop.kind
      return { state, reason: stop.reason, until: stop.until }
    },
  }
}

/** Every other failure counts as an answer, because the provider was reached. */
const stopping: ReadonlySet<Reason> = new Set<Reason>([
  'busy',
  'throttled',
  'bad_key',
  'no_credit',
  'unavailable',
  'timeout',
])
