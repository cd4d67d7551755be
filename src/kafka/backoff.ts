// How long to wait before the next attempt: twice as long each time, and short again once the brokers are back.
import type { BrokerWatch } from './broker-watch.js'

const firstMs = 500
const maxMs = 30_000

/** Call it for each failure; `isProgress`: something was delivered since the last one. */
export const createBackoff = (brokers: Pick<BrokerWatch, 'unreachableSince'>): ((isProgress?: boolean) => number) => {
  let nextMs = firstMs
  let wereUnreachable = false
  return (isProgress = false) => {
    const areUnreachable = brokers.unreachableSince() !== undefined
    if (isProgress || (wereUnreachable && !areUnreachable)) nextMs = firstMs
    wereUnreachable = areUnreachable
    const ms = nextMs
    nextMs = Math.min(2 * ms, maxMs)
    return ms
  }
}
