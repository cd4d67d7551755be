// The time that a backlog may spend waiting for lookups: a share of the elapsed time plus an initial credit.

type WaitBudget = {
  readonly began: () => void
  readonly ended: () => void
  readonly leftMs: () => number
}

/** The initial credit, which is also the most that can be saved up. */
const creditMs = 2_000

/**
 * Measured in wall time, so concurrent waits of partitions count once. Only idle time is charged: a partition that waits while
 * others are processed delays nothing.
 */
export const createWaitBudget = (
  share: number,
  now: () => number,
  /** Total idle time of the process in milliseconds, from any starting point. */
  idleMs: () => number = now,
  /** Called with the time waited since the last call. */
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
