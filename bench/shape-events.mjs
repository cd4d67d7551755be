// The events of the three shapes: mostly clean, or half of them accused, among repeats and machines that are new.
import { addressOf, eventBetween } from './kafka-stage.mjs'

/** The provider of the benches accuses what has 0 or 40 in the third place. */
export const accusedAddresses = Array.from({ length: 256 }, (_, n) => addressOf((((n >> 7) * 40) << 7) | (n & 127)))
export const cleanAddresses = Array.from({ length: 2_000 }, (_, n) => addressOf(n + 128))
const spread = (n) => Math.imul(n, 2_654_435) >>> 0
const accusedOf = (n) => accusedAddresses[spread(n % 97) % accusedAddresses.length]
const cleanOf = (n) => cleanAddresses[(Math.imul(n, 7919) >>> 0) % cleanAddresses.length]

const host = (n) => `10.0.${(n >> 8) & 3}.${n & 255}`
const newHost = (n) => `10.${64 + ((n >> 16) & 63)}.${(n >> 8) & 255}.${n & 255}`
/** Of so many accused events one is about a machine that was not seen with the indicator: it raises an alert, the others are suppressed. */
const newPeer = 8

/** Of a thousand events. */
export const accusedUsually = 16
export const accusedInFlood = 500

/** `at`: when the first event happened. */
export const shapeEvent = (accused, at) => (n) => {
  if (spread(n) % 1_000 >= accused) return eventBetween(n, host(n % 400), cleanOf(n), at)
  return eventBetween(n, n % newPeer === 0 ? newHost(n) : host(n % 8), accusedOf(n), at)
}
