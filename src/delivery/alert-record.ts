// An alert as a record: alerts about the same indicator keep their order on one partition.
import type { Outgoing } from './compose.js'

export type AlertOut = {
  /** What the alert is about. */
  readonly key: string
  readonly value: Buffer
}

export const alertRecord = (topic: string, partitions: number, { key, value }: AlertOut, now: number): Outgoing => ({
  topic,
  partition: hash(key) % partitions,
  key: Buffer.from(key),
  value,
  headers: [],
  timestamp: String(now),
})

const hash = (text: string): number => {
  let value = 5381
  for (let at = 0; at < text.length; at++) value = ((value * 33) ^ text.charCodeAt(at)) >>> 0
  return value
}
