// When lookups that failed are repeated: all that failed equally often at about the same time together.
import type { Clock } from '../base/clock.js'

const firstMs = 30_000

/** The promise that resolves when it is time, by how often the lookup has failed. */
export const createRetryLater = (clock: Clock): ((failures: number) => Promise<void>) => {
  const next = new Map<number, Promise<void>>()
  return (failures) => {
    const known = next.get(failures)
    if (known) return known
    const promise = new Promise<void>((resolve) => {
      clock.after(firstMs * 2 ** failures, () => {
        next.delete(failures)
        resolve()
      })
    })
    next.set(failures, promise)
    return promise
  }
}
