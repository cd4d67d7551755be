// How long to wait before the next try at Kafka: twice as long each time, and briefly again once the brokers are back.
import type { BrokerWatch } from './broker-watch.js'

const firstMs = 500
const maxMs = 30_000

/** Each call is for one more failure; `isProgress`: something was achieved since the last one. */
export const createBackoff = (brokers: Pick<BrokerWatch, 'unreachableSince'>): ((isProgress?: boolean) => number) => {
  let nextMs = firstMs
  let wereAway = false
  return (isProgress = false) => {
    const areAway = brokers.unreachableSince() !== undefined
    if (isProgress || (wereAway && !areAway)) nextMs = firstMs
    wereAway = areAway
    const ms = nextMs
    nextMs = Math.min(2 * ms, maxMs)
    return ms
  }
}
