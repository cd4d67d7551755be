// Logs the first of a burst of equal failures and then a count at intervals.
import type { Clock } from '../base/clock.js'
import type { Emit, TelemetryEvent } from './event.js'
import { sentenceOf, severityOf } from './wording.js'

type Burst = { times: number; latest: TelemetryEvent }

/** Distinct failures tracked at the same time; beyond that everything is logged. */
const maxBursts = 200

type Summarised = {
  readonly emit: Emit
  /** Logs the pending counts before a stop. */
  readonly flush: () => void
}

export const summariseBursts = (emit: Emit, clock: Clock, everyMs: number): Summarised => {
  const bursts = new Map<string, Burst>()
  const end = (key: string): void => {
    const burst = bursts.get(key)
    if (!burst || burst.times === 0) {
      bursts.delete(key)
      return
    }
    clock.after(everyMs, () => end(key))
    emitCount(burst)
  }
  const emitCount = (burst: Burst): void => {
    const { times, latest } = burst
    burst.times = 0
    emit({ event: 'failure_repeated', failure: sentenceOf(latest), times, withinMs: everyMs })
  }
  const summarise: Emit = (event) => {
    const severity = severityOf(event)
    if (severity !== 'warn' && severity !== 'error') {
      emit(event)
      return
    }
    const key = keyOf(event)
    const burst = bursts.get(key)
    if (burst) {
      burst.times++
      burst.latest = event
      return
    }
    if (bursts.size < maxBursts) {
      bursts.set(key, { times: 0, latest: event })
      clock.after(everyMs, () => end(key))
    }
    emit(event)
  }
  const flush = (): void => {
    for (const burst of bursts.values()) if (burst.times > 0) emitCount(burst)
  }
  return { emit: summarise, flush }
}

/** The fields that make two failures the same. */
const keyOf = (event: TelemetryEvent): string => {
  const { operation, reason, topic, to, state, feed, file, about, source } = event as Readonly<Record<string, unknown>>
  return JSON.stringify([event.event, operation, reason, topic, to, state, feed, file, about, source])
}
