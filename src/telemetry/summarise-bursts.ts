// Logs the first failure of a burst, then a count of repeats at intervals.
import type { Clock } from '../base/clock.js'
import type { Emit, TelemetryEvent } from './event.js'
import { sentenceOf, severityOf } from './wording.js'

type Burst = { times: number; latest: TelemetryEvent }

/** The maximum number of distinct failures tracked at once; others are all logged. */
const maxBursts = 200

type Summarised = {
  readonly emit: Emit
  /** Logs pending counts; for shutdown. */
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
      burst.latest = burst.times === 0 ? event : together(burst.latest, event)
      burst.times++
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

/** Fields that are added up over the failures of a burst. */
const sums = ['count', 'events', 'records', 'members', 'alerts', 'updates', 'firings'] as const

const together = (former: TelemetryEvent, latest: TelemetryEvent): TelemetryEvent => {
  const [before, now] = [former, latest] as readonly Readonly<Record<string, unknown>>[]
  const summed = sums.flatMap((name) => {
    const [one, other] = [before?.[name], now?.[name]]
    return typeof one === 'number' && typeof other === 'number' ? [[name, one + other]] : []
  })
  return { ...latest, ...(Object.fromEntries(summed) as object) }
}

/** Two failures with equal values in these fields are repeats. */
const keyOf = (event: TelemetryEvent): string => {
  const { operation, reason, topic, to, state, feed, file, about, source, why, sink } = event as Readonly<
    Record<string, unknown>
  >
  const partition = event.event === 'offsets_skipped' ? event.partition : undefined
  return JSON.stringify([
    event.event,
    operation,
    reason,
    topic,
    to,
    state,
    feed,
    file,
    about,
    source,
    why,
    sink,
    partition,
  ])
}
