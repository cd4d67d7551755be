// Keeps lines of `pipe` that were written before their verdicts, for late alerts, because a pipe cannot be read again.
import type { Alert } from '../../alerts/alert.js'
import type { Alerts } from '../../alerts/open-alerts.js'
import { backgroundClock } from '../../base/clock.js'
import { allOf, eventsIn, type EventIn, type EventOut, type Pipeline } from '../../pipeline/pipeline.js'
import { awaitedBy, revisit, firingsOfMember, raiseByMember, createRetryLater } from '../../follow-up/revisit.js'
import { createPending } from '../../follow-up/pending.js'
import type { Emit } from '../../telemetry/event.js'

type LateLines = {
  /** Returns the alerts of written lines in order, and keeps lines with pending lookups. */
  readonly raise: (lines: readonly EventIn[], events: readonly EventOut[]) => readonly Alert[]
  /** Resolves when no line is pending. */
  readonly idle: () => Promise<void>
}

/** Lines beyond this limit get no late alert; they are counted. */
const maxBytes = 33_554_432
const maxLines = 500_000

export const createLateLines = (options: {
  readonly rules: Alerts
  /** Annotates without waiting for lookups. */
  readonly pipeline: Pipeline
  readonly late: (alerts: readonly Alert[]) => void
  readonly emit: Emit
}): LateLines => {
  const { rules, pipeline, late, emit } = options
  const kept = new Map<number, EventIn>()
  const retryLater = createRetryLater(backgroundClock)
  let bytes = 0
  let count = 0
  const dropped = (events: number): void => emit({ event: 'late_events_dropped', events, why: 'too_many' })

  const follow = async (): Promise<void> => {
    const notes = waiting.take(Infinity)
    const lines = notes.flatMap(({ offset }) => kept.get(offset) ?? [])
    const events = await allOf(pipeline, lines)
    const again = notes.flatMap((note, place) => (events[place] ? [{ note, event: events[place] }] : []))
    const { alerts, done, open } = revisit(again, raiseByMember<EventOut, Alert>(rules.raiseLate), retryLater)
    if (alerts.length > 0) late(alerts)
    for (const { offset } of done) {
      bytes -= kept.get(offset)?.bytes.length ?? 0
      kept.delete(offset)
    }
    waiting.wait(open)
    waiting.settle(done.map(({ offset }) => offset))
  }
  const pending = createPending({ dropped, max: maxLines })
  const waiting = pending.open(() => queueMicrotask(() => void follow()))

  return {
    raise: (lines, events) => {
      const fired = new Map<object, readonly string[]>()
      const alerts = rules.raise(eventsIn(events), (event, firings) => fired.set(event, firings))
      const firedOf = (event: EventOut): readonly string[] =>
        event.members?.flatMap((member, nth) => firingsOfMember(nth, fired.get(member) ?? [])) ?? fired.get(event) ?? []
      let missed = 0
      for (const [place, event] of events.entries()) {
        const awaited = awaitedBy(event)
        const line = lines[place]
        if (awaited.length === 0 || !line) continue
        if (bytes >= maxBytes) {
          missed++
          continue
        }
        // A copy, because the slice would keep the whole input block in memory.
        const copy = { ...line, bytes: Buffer.from(line.bytes) }
        kept.set(++count, copy)
        bytes += copy.bytes.length
        waiting.note([{ offset: count, fired: firedOf(event), awaited }])
      }
      if (missed > 0) dropped(missed)
      return alerts
    },
    idle: pending.idle,
  }
}
