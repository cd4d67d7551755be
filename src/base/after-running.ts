// A timer for limits on others: time in which this process did not run, because it was suspended or its event loop was busy, does not count.
import type { Clock } from './clock.js'

const stepMs = 1_000
/** A step that is this late was held up. What arrived meanwhile is read before the next one ends. */
const lateMs = 500

/** The returned function cancels it. */
export const afterRunning = ({ now, after }: Clock, ms: number, run: () => void): (() => void) => {
  let cancel: () => void = () => undefined
  const wait = (leftMs: number): void => {
    const nextMs = Math.min(leftMs, stepMs)
    const dueAt = now() + nextMs
    cancel = after(nextMs, () => {
      const isHeldUp = now() - dueAt > lateMs
      if (isHeldUp) wait(leftMs)
      else if (leftMs > nextMs) wait(leftMs - nextMs)
      else run()
    })
  }
  wait(ms)
  return () => cancel()
}
