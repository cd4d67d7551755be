// The events of the three shapes: mostly clean or half of them malicious, with repeats and new hosts.
import { addressOf, eventBetween } from './kafka-stage.mjs'

/** The provider of the benches calls an address malicious if its third byte is 0 or 40. */
export const accusedAddresses = Array.from({ length: 256 }, (_, n) => addressOf((((n >> 7) * 40) << 7) | (n & 127)))
export const cleanAddresses = Array.from({ length: 2_000 }, (_, n) => addressOf(n + 128))
const spread = (n) => Math.imul(n, 2_654_435) >>> 0
const accusedOf = (n) => accusedAddresses[spread(n % 97) % accusedAddresses.length]
const cleanOf = (n) => cleanAddresses[(Math.imul(n, 7919) >>> 0) % cleanAddresses.length]

const host = (n) => `10.0.${(n >> 8) & 3}.${n & 255}`
const newHost = (n) => `10.${64 + ((n >> 16) & 63)}.${(n >> 8) & 255}.${n & 255}`
/** One in so many malicious events has a new host for its indicator and raises an alert; the others are suppressed. */
const newPeer = 8

/** Malicious events per thousand. */
export const accusedUsually = 16
export const accusedInFlood = 500

/** `at`: the time of the first event. */
export const shapeEvent = (accused, at) => (n) => {
  if (spread(n) % 1_000 >= accused) return eventBetween(n, host(n % 400), cleanOf(n), at)
  return eventBetween(n, n % newPeer === 0 ? newHost(n) : host(n % 8), accusedOf(n), at)
}
