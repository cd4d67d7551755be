// One state for all calls of a key: open, or shut for a time by a pause, the breaker or a refused key; then one probe decides.
import type { Unknown } from '../../domain/finding.js'
import type { Reason } from '../../domain/reason.js'

export type BarrierSettings = {
  /** A pause when nothing says how long; it doubles with every further refusal. */
  readonly pauseMs: number
  /** The longest pause that is waited for; while a longer one lasts, lookups are refused instead. */
  readonly maxPauseMs: number
  /** Failed calls in a row (unreachable, timed out, server errors) that open the breaker. */
  readonly breakerFailures: number
  readonly breakerMs: number
  readonly maxBreakerMs: number
  /** How long nothing is sent after the key was refused, or the credit was used up and nothing says how long. */
  readonly stopMs: number
}

export type Passage =
  | { readonly pass: 'go' }
  /** `ms` is Infinity while a probe is out: whoever waits is told when it is back. */
  | { readonly pass: 'wait'; readonly ms: number }
  | { readonly pass: 'refuse'; readonly finding: Unknown }

export type BarrierState = 'open' | 'paused' | 'breaker_open' | 'stopped' | 'probing'

export type Barrier = {
  readonly look: (now: number) => Passage
  /** Just before a call is sent, after `look` said go; true when this call is the probe. */
  readonly enter: (now: number) => boolean
  /** What came of a call; undefined when it was answered. */
  readonly note: (failure: Unknown | undefined, isProbe: boolean, now: number) => void
  readonly state: (now: number) => { readonly state: BarrierState; readonly reason?: Reason; readonly until?: number }
}

type Shut = { kind: 'paused' | 'breaker_open' | 'stopped'; reason: Reason; until: number; probing: boolean }

/** No provider gets to silence us for longer with one header. */
const longestMs = 24 * 3_600_000

export const createBarrier = (settings: BarrierSettings): Barrier => {
  let shut: Shut | undefined
  let failures = 0
  let pauses = 0
  let breaks = 0

  const close = (kind: Shut['kind'], reason: Reason, ms: number, now: number): void => {
    const until = now + Math.min(ms, longestMs)
    shut = { kind, reason, until: Math.max(until, shut?.until ?? 0), probing: false }
  }

  const noteFailure = (failure: Unknown, isProbe: boolean, now: number): void => {
    const { reason, retryAfterMs } = failure
    // Calls that were under way when the barrier went down only prolong it.
    const isFirst = isProbe || !shut
    const isBroken = reason === 'unavailable' || reason === 'timeout'
    if (isBroken) failures++
    if (reason === 'bad_key' || reason === 'no_credit') {
      close('stopped', reason, retryAfterMs ?? settings.stopMs, now)
    } else if (reason === 'busy' || reason === 'throttled' || (isBroken && retryAfterMs !== undefined)) {
      if (isFirst) pauses++
      const doubledMs = Math.min(settings.pauseMs * 2 ** Math.min(pauses - 1, 30), settings.maxPauseMs)
      close('paused', reason, retryAfterMs ?? doubledMs, now)
    } else if (isFirst && (isProbe || failures >= settings.breakerFailures)) {
      const openMs = Math.min(settings.breakerMs * 2 ** Math.min(breaks++, 30), settings.maxBreakerMs)
      close('breaker_open', 'breaker_open', openMs, now)
    }
  }

  return {
    look: (now) => {
      if (!shut) return { pass: 'go' }
      const leftMs = shut.until - now
      if (leftMs <= 0 && !shut.probing) return { pass: 'go' }
      if (shut.kind === 'paused' && leftMs <= settings.maxPauseMs)
        return { pass: 'wait', ms: leftMs > 0 ? leftMs : Infinity }
      const finding: Unknown = { status: 'unknown', reason: shut.reason, ...(leftMs > 0 && { retryAfterMs: leftMs }) }
      return { pass: 'refuse', finding }
    },
    enter: (now) => {
      if (!shut || now < shut.until || shut.probing) return false
      shut.probing = true
      return true
    },
    note: (failure, isProbe, now) => {
      if (failure && shutting.has(failure.reason)) {
        noteFailure(failure, isProbe, now)
        return
      }
      if (shut && !isProbe) return
      shut = undefined
      failures = pauses = breaks = 0
    },
    state: (now) => {
      if (!shut) return { state: 'open' }
      const state = now >= shut.until ? 'probing' : shut.kind
      return { state, reason: shut.reason, until: shut.until }
    },
  }
}

/** Every other failure is an answer as far as the way to the provider is concerned. */
const shutting: ReadonlySet<Reason> = new Set<Reason>([
  'busy',
  'throttled',
  'bad_key',
  'no_credit',
  'unavailable',
  'timeout',
])
