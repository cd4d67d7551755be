// Tracks the age at delivery of the oldest event since the last read.
import type { TelemetryEvent } from '../../../telemetry/event.js'

type OldestEvent = {
  readonly emit: (event: TelemetryEvent) => void
  /** Milliseconds; undefined if nothing was delivered. */
  readonly take: () => number | undefined
}

/** Ignores larger ages: the timestamp comes from the producer and may be wrong. */
const maxMs = 31 * 86_400_000

export const createOldestEvent = (): OldestEvent => {
  let oldest: number | undefined
  return {
    emit: (event) => {
      if (event.event !== 'chunk_delivered' || event.oldestMs === undefined) return
      if (event.oldestMs >= 0 && event.oldestMs < maxMs) oldest = Math.max(oldest ?? 0, event.oldestMs)
    },
    take: () => {
      const taken = oldest
      oldest = undefined
      return taken
    },
  }
}
