// The pipeline: events in, the same events with their annotations out.
import type { Clock } from '../domain/clock.js'
import type { Extraction } from '../domain/sighting.js'
import type { Annotate, EventIn, EventOut } from './annotate.js'
import type { Enrich, Row } from './enrich.js'
import type { Event } from './event.js'
import type { Judged } from '../domain/judged.js'
import { keepFormer } from './keep-former.js'
import type { Wait } from './wait.js'

export type { EventIn, EventOut }

/**
 * Hands over every event of a chunk once, with its place in it: those that are answered at once and in order, the others when their
 * answers came or were waited for long enough. No promise when nothing has to be waited for. Never throws and never rejects; false
 * when the events that were still open are to be left where they are.
 */
export type Pipeline = (chunk: readonly EventIn[], use: Use, wait?: Wait) => boolean | Promise<boolean>

export type Use = (event: EventOut, place: number) => void

/** All events of a chunk in order, for those who have nothing to do before the last one is through. */
export const allOf = (
  pipeline: Pipeline,
  chunk: readonly EventIn[],
  wait?: Wait,
): readonly EventOut[] | Promise<readonly EventOut[]> => {
  const events: EventOut[] = []
  const through = pipeline(chunk, (event, place) => void (events[place] = event), wait)
  return through instanceof Promise ? through.then(() => events) : events
}

export type Steps = {
  readonly decode: (bytes: Buffer) => Event
  readonly extract: (event: Event) => Extraction
  readonly enrich: Enrich
  readonly annotate: Annotate
  readonly clock: Clock
  /** How long events wait where nobody says otherwise. */
  readonly wait: Wait
}

type Open = { readonly place: number; readonly event: Event; readonly extraction: Extraction; readonly row: Row }

export const createPipeline = (steps: Steps): Pipeline => {
  const { decode, extract, enrich, annotate, clock } = steps
  const finish = (given: EventIn, event: Event, extraction: Extraction, judged: readonly Judged[]): EventOut =>
    annotate(given, event, extraction, given.former === undefined ? judged : keepFormer(judged, given.former))
  return (chunk, use, wait = steps.wait) => {
    // One look at the clock for all: it takes as long as reading a field of an event.
    const now = clock.now()
    const open: Open[] = []
    for (let place = 0; place < chunk.length; place++) {
      const given = chunk[place] as EventIn
      const event = decode(given.bytes)
      const extraction = extract(event)
      const row = enrich.start(extraction, wait, now)
      if (row.open.length > 0) open.push({ place, event, extraction, row })
      else use(finish(given, event, extraction, row.judged), place)
    }
    if (open.length === 0) return true
    const finishOpen = (isWanted: boolean): boolean => {
      const later = clock.now()
      if (isWanted)
        for (const { place, event, extraction, row } of open)
          use(finish(chunk[place] as EventIn, event, extraction, enrich.finish(row, wait, later)), place)
      return isWanted
    }
    const isWanted = enrich.wait(
      open.map(({ row }) => row),
      wait,
    )
    return isWanted instanceof Promise ? isWanted.then(finishOpen) : finishOpen(isWanted)
  }
}
