// Notices an event loop that is held up again and again, by how late its ticks come.
import type { Clock } from '../domain/clock.js'

export type LoopWatch = {
  /** The shortest of the last three delays: only what holds up every tick is a condition and no hiccup. */
  readonly blockedMs: () => number
  readonly close: () => void
}

const tickMs = 1000

export const watchLoop = (clock: Clock): LoopWatch => {
  let delays = [0, 0, 0]
  let due = clock.now() + tickMs
  let cancel = (): void => undefined
  const tick = (): void => {
    const now = clock.now()
    delays = [...delays.slice(1), Math.max(0, now - due)]
    due = now + tickMs
    cancel = clock.after(tickMs, tick)
  }
  cancel = clock.after(tickMs, tick)
  return { blockedMs: () => Math.min(...delays), close: () => cancel() }
}
