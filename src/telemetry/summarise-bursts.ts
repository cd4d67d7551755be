// Bursts of the same failure: the first is told, the others as one count every so often.
import type { Clock } from '../domain/clock.js'
import type { Tell, TelemetryEvent } from './event.js'
import { sentenceOf, severityOf } from './wording.js'

type Burst = { times: number; latest: TelemetryEvent }

/** Kinds of failure told apart at the same time; past it everything is told. */
const maxBursts = 200

export type Summarised = {
  readonly tell: Tell
  /** Tells what is still counted, before the end. */
  readonly flush: () => void
}

export const summariseBursts = (tell: Tell, clock: Clock, everyMs: number): Summarised => {
  const bursts = new Map<string, Burst>()
  const end = (key: string): void => {
    const burst = bursts.get(key)
    if (!burst || burst.times === 0) {
      bursts.delete(key)
      return
    }
    clock.after(everyMs, () => end(key))
    sayTimes(burst)
  }
  const sayTimes = (burst: Burst): void => {
    const { times, latest } = burst
    burst.times = 0
    tell({ event: 'failure_repeated', failure: sentenceOf(latest), times, withinMs: everyMs })
  }
  const summarise: Tell = (event) => {
    const severity = severityOf(event)
    if (severity !== 'warn' && severity !== 'error') {
      tell(event)
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
    tell(event)
  }
  const flush = (): void => {
    for (const burst of bursts.values()) if (burst.times > 0) sayTimes(burst)
  }
  return { tell: summarise, flush }
}

/** What makes two failures the same; the rest of them differs from one to the next. */
const keyOf = (event: TelemetryEvent): string => {
  const { operation, reason, topic, to, state, feed, file, about } = event as Readonly<Record<string, unknown>>
  return JSON.stringify([event.event, operation, reason, topic, to, state, feed, file, about])
}
