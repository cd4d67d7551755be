// How old the oldest event was when it was delivered, since the last look.
import type { TelemetryEvent } from '../../../telemetry/event.js'

type OldestEvent = {
  readonly emit: (event: TelemetryEvent) => void
  /** Milliseconds; absent where nothing was delivered. */
  readonly take: () => number | undefined
}

/** Whoever writes a record sets its time, so it may be wrong. */
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
