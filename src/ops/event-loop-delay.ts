// Detects a blocked event loop by how late its timer fires.
import type { Clock } from '../base/clock.js'

type EventLoopDelay = {
  /** The shortest of the last three delays, so that one hiccup does not count. */
  readonly blockedMs: () => number
  readonly close: () => void
}

const tickMs = 1000

export const measureEventLoopDelay = (clock: Clock): EventLoopDelay => {
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
