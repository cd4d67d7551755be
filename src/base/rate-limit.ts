// Waits so that no more than so many things a second are done, by whoever shares the limit.
import { setTimeout as sleep } from 'node:timers/promises'

/** Waits until so many may be done; without a limit, or once the signal is aborted, not at all. */
export type RateLimit = (count: number) => Promise<void>

export const createRateLimit = (perSecond: number | undefined, now: () => number, signal: AbortSignal): RateLimit => {
  let freeAt = now()
  return async (count) => {
    if (perSecond === undefined) return
    const at = Math.max(now(), freeAt)
    freeAt = at + (count / perSecond) * 1000
    const waitMs = at - now()
    if (waitMs > 0) await sleep(waitMs, undefined, { signal }).catch(() => undefined)
  }
}
