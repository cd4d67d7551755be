// Limits the calls in flight to a fixed number, or to the number with the highest throughput.

/** `auto` searches for the best number. */
export type InFlight = number | 'auto'

type InFlightLimit = {
  readonly allowed: () => number
  /** A call was answered; `isBusy`: others were waiting meanwhile. */
  readonly answered: (sentAt: number, now: number, isBusy: boolean) => void
  /** A call was refused or timed out; `inFlight` is the number in flight when it was sent, including itself. */
  readonly refused: (sentAt: number, now: number, inFlight: number) => void
}

/** The upper limit of `auto`; for more, set a number. */
const mostFound = 32

export const mostInFlight = (setting: InFlight): number => (setting === 'auto' ? mostFound : setting)

/** A higher number must raise throughput by at least this fraction of its increase. */
const worthwhile = 0.2
/** Time between attempts at a higher number; doubles after each failed attempt. */
const firstPauseMs = 5_000
/** The same after a refusal, which pauses all calls. */
const firstPauseOfRefusedMs = 60_000
const longestPauseMs = 15 * 60_000

export const createInFlightLimit = (setting: InFlight): InFlightLimit =>
  setting === 'auto' ? findLimit() : { allowed: () => setting, answered: () => undefined, refused: () => undefined }

/**
 * Throughput is the calls in flight divided by their latency. The number doubles from one while that pays off; later, a quarter more is
 * tried from time to time. A refusal halves the number and caps it below the refused one.
 */
const findLimit = (): InFlightLimit => {
  let allowed = 1
  let changedAt = -Infinity
  /** Of the calls sent since `changedAt`. */
  let answers = 0
  let totalMs = 0
  let isDoubling = true
  /** The last number that paid off, and its calls per millisecond. */
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
      // A refused call that was sent before the last change only lowers the cap.
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
