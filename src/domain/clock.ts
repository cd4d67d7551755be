// Time as a parameter: what the clock says, and being called back later.

export type Clock = {
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Calls back once after the given time; the returned function cancels it. */
  readonly after: (ms: number, run: () => void) => () => void
}

/** Node takes a longer delay for 1 ms. */
const longestMs = 2_147_483_647

export const systemClock: Clock = {
  now: () => Date.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, Math.min(Math.max(0, ms), longestMs))
    return () => clearTimeout(timer)
  },
}

/** For what is worth doing only while something else keeps the process going. */
export const backgroundClock: Clock = {
  now: () => Date.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, Math.min(Math.max(0, ms), longestMs)).unref()
    return () => clearTimeout(timer)
  },
}
