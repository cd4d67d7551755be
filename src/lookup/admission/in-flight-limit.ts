// How many calls may be in flight: a fixed number, or the number that gets the most answers out of the provider.

/** `auto` finds the number. */
export type InFlight = number | 'auto'

type InFlightLimit = {
  readonly allowed: () => number
  /** A call was answered; `isBusy`: others waited for their turn meanwhile. */
  readonly answered: (sentAt: number, now: number, isBusy: boolean) => void
  /** A call was refused or timed out that was sent when `inFlight` were in flight, itself included. */
  readonly refused: (sentAt: number, now: number, inFlight: number) => void
}

/** `auto` goes no higher; for more, write a number. */
const mostFound = 32

export const mostInFlight = (setting: InFlight): number => (setting === 'auto' ? mostFound : setting)

/** A higher number must gain this part of its increase in calls per second. */
const worthwhile = 0.2
/** Time between attempts at a higher number; doubles after each that failed. */
const firstPauseMs = 5_000
/** The same after a refusal, which pauses all calls. */
const firstPauseOfRefusedMs = 60_000
const longestPauseMs = 15 * 60_000

export const createInFlightLimit = (setting: InFlight): InFlightLimit =>
  setting === 'auto' ? findLimit() : { allowed: () => setting, answered: () => undefined, refused: () => undefined }

/**
 * Calls per second are the calls in flight divided by their latency. The number doubles from one while that gains
 * enough, then a quarter more is tried now and then. A refusal halves it and caps it below what was refused.
 */
const findLimit = (): InFlightLimit => {
  let allowed = 1
  let changedAt = -Infinity
  /** Of the calls that were sent since then. */
  let answers = 0
  let totalMs = 0
  let isDoubling = true
  /** The last number that was worthwhile, and its calls per millisecond. */
  let proven: { readonly allowed: number; readonly perMs: number } | undefined
  let cap = mostFound
  let nextAttemptAt = 0
  let pauseMs = firstPauseMs
  let pauseOfRefusedMs = firstPauseOfRefusedMs

  const change = (next: number, now: number): void => {
    allowed = next
    changedAt = now
    answers = totalMs = 0
  }
  const pause = (now: number): void => {
    isDoubling = false
    nextAttemptAt = now + pauseMs
    pauseMs = Math.min(pauseMs * 2, longestPauseMs)
  }

  const judge = (perMs: number, now: number): void => {
    if (proven && allowed > proven.allowed) {
      const increase = allowed / proven.allowed - 1
      if (perMs < proven.perMs * (1 + worthwhile * increase)) {
        change(proven.allowed, now)
        pause(now)
        return
      }
      pauseMs = firstPauseMs
      pauseOfRefusedMs = firstPauseOfRefusedMs
    }
    proven = { allowed, perMs }
    if (!isDoubling && now < nextAttemptAt) return
    if (!isDoubling) cap = mostFound
    const next = Math.min(cap, isDoubling ? allowed * 2 : allowed + Math.ceil(allowed / 4))
    if (next > allowed) change(next, now)
    else isDoubling = false
  }

  return {
    allowed: () => allowed,
    answered: (sentAt, now, isBusy) => {
      if (!isBusy || sentAt < changedAt) return
      answers++
      totalMs += Math.max(1, now - sentAt)
      if (answers < (isDoubling ? Math.max(4, allowed * 2) : Math.max(32, allowed * 4))) return
      const perMs = (allowed * answers) / totalMs
      answers = totalMs = 0
      judge(perMs, now)
    },
    refused: (sentAt, now, inFlight) => {
      const below = Math.max(1, inFlight - 1)
      // What went before the number was lowered says where the cap is, and no more.
      if (sentAt < changedAt) {
        cap = Math.min(cap, below)
        return
      }
      cap = below
      proven = undefined
      change(Math.max(1, Math.floor(allowed / 2)), now)
      isDoubling = true
      nextAttemptAt = now + pauseOfRefusedMs
      pauseOfRefusedMs = Math.min(pauseOfRefusedMs * 2, longestPauseMs)
    },
  }
}
