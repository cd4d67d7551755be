// A fake clock.
import type { Clock } from '../../src/base/clock.js'

export type FakeClock = Clock & {
  /** Moves the time forward and runs due timers in order, with promises settling in between. */
  readonly advance: (ms: number) => Promise<void>
  readonly timers: () => number
}

/** 2026-01-01T00:00:00Z, the start of a UTC day. */
export const newYear = Date.UTC(2026, 0, 1)

/** Waits several turns of the event loop, because streams pass on lookups three at a time. */
export const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
}

export const createFakeClock = (start = newYear): FakeClock => {
  let time = start
  let timers: { readonly at: number; readonly run: () => void }[] = []
  return {
    now: () => time,
    after: (ms, run) => {
      const timer = { at: time + Math.max(0, ms), run }
      timers.push(timer)
      return () => void (timers = timers.filter((other) => other !== timer))
    },
    advance: async (ms) => {
      const end = time + ms
      await settle()
      for (;;) {
        const due = timers.reduce<(typeof timers)[number] | undefined>(
          (first, timer) => (timer.at <= end && (!first || timer.at < first.at) ? timer : first),
          undefined,
        )
        if (!due) break
        timers = timers.filter((timer) => timer !== due)
        time = Math.max(time, due.at)
        due.run()
        await settle()
      }
      time = end
      await settle()
    },
    timers: () => timers.length,
  }
}
