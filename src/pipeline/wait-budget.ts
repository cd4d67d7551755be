// How long a process that is behind may still wait for answers: a share of the time that passes, and some credit to begin with.

export type WaitBudget = {
  readonly began: () => void
  readonly ended: () => void
  readonly leftMs: () => number
}

/** What a process may wait before it has earned any; no more than this is saved up. */
const creditMs = 2_000

/**
 * In wall time: however many partitions wait at the same time, it passes once. Only what the process stood idle meanwhile is
 * spent: a partition that waits while others are worked on holds nothing up.
 */
export const createWaitBudget = (
  share: number,
  now: () => number,
  /** Milliseconds that the process has been idle, counted from any moment. */
  idleMs: () => number = now,
  /** Told how much was waited since it was last told. */
  waited: (ms: number) => void = () => undefined,
): WaitBudget => {
  let left = share > 0 ? creditMs : 0
  let at = now()
  let idleAt = idleMs()
  let waiting = 0
  const pass = (): void => {
    const ms = Math.max(0, now() - at)
    const idle = Math.max(0, idleMs() - idleAt)
    at += ms
    idleAt += idle
    left = Math.min(creditMs, left + share * ms - (waiting > 0 ? idle : 0))
    if (waiting > 0) waited(idle)
  }
  return {
    began: () => {
      pass()
      waiting++
    },
    ended: () => {
      pass()
      waiting--
    },
    leftMs: () => {
      pass()
      return left
    },
  }
}
