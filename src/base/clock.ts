// The clock as a parameter, so that tests can control time.

export type Clock = {
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Calls back once after the given time; the returned function cancels it. */
  readonly after: (ms: number, run: () => void) => () => void
}

/** Node treats longer delays as 1 ms. */
const longestMs = 2_147_483_647

export const systemClock: Clock = {
  now: () => Date.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, Math.min(Math.max(0, ms), longestMs))
    return () => clearTimeout(timer)
  },
}

/** Its timers do not keep the process alive. */
export const backgroundClock: Clock = {
  now: () => Date.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, Math.min(Math.max(0, ms), longestMs)).unref()
    return () => clearTimeout(timer)
  },
}
