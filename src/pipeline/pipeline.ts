// The pipeline: decode → extract → enrich → annotate for a chunk of events.
import type { Clock } from '../base/clock.js'
import type { Extraction } from '../domain/sighting.js'
import type { Annotate } from './annotate/annotate.js'
import { eventsIn, outputsOf, type EventIn, type EventOut, type Reduced, type Event } from './event.js'
import type { CutBatch, RecordOrigin } from './batch/cut-batch.js'
import type { Enrich, EventVerdicts } from './enrich/enrich.js'
import type { Judged } from '../domain/verdict.js'
import { keepFormer } from './enrich/keep-former.js'
import type { Wait } from './enrich/wait.js'

export { eventsIn, outputsOf, type EventIn, type EventOut, type Reduced }

/**
 * Calls `use` once for every event of a chunk with its position: immediately and in order if it is answered, the others after waiting.
 * Synchronous if there is nothing to wait for. Never throws or rejects; returns false if the remaining events should stay in the topic.
 */
export type Pipeline = ((chunk: readonly EventIn[], use: Use, wait?: Wait) => boolean | Promise<boolean>) & {
  /** Splits batches, and decodes values that are not text. */
  readonly cut?: CutBatch
  /** Loads the schemas that `cut` needs for some records, within one deadline; undefined if there is nothing to wait for. Never rejects. */
  readonly prepare?: PrepareRecords
}

/** Undefined if there is nothing to wait for. */
export type PrepareRecords = (
  records: readonly (RecordOrigin & { readonly value: Buffer | null })[],
) => Promise<void> | undefined

export type Use = (event: EventOut, place: number) => void

/** Resolves with all events of a chunk in order, when the last one is done. */
export const allOf = (
  pipeline: Pipeline,
  chunk: readonly EventIn[],
  wait?: Wait,
): readonly EventOut[] | Promise<readonly EventOut[]> => {
  const events: EventOut[] = []
  const through = pipeline(chunk, (event, place) => void (events[place] = event), wait)
  return through instanceof Promise ? through.then(() => events) : events
}

type Steps = {
  readonly decode: (bytes: Buffer) => Event
  readonly extract: (event: Event) => Extraction
  readonly enrich: Enrich
  readonly annotate: Annotate
  readonly clock: Clock
  /** The default wait. */
  readonly wait: Wait
}

type OpenEvent = {
  readonly place: number
  readonly event: Event
  readonly extraction: Extraction
  readonly row: EventVerdicts
}

export const createPipeline = (steps: Steps): Pipeline => {
  const { decode, extract, enrich, annotate, clock } = steps
  const finish = (given: EventIn, event: Event, extraction: Extraction, judged: readonly Judged[]): EventOut =>
    annotate(given, event, extraction, given.former === undefined ? judged : keepFormer(judged, given.former))
  return (chunk, use, wait = steps.wait) => {
    // One clock reading per chunk: it costs as much as reading a field of an event.
    const now = clock.now()
    const open: OpenEvent[] = []
    for (let place = 0; place < chunk.length; place++) {
      const given = chunk[place] as EventIn
      const event = decode(given.bytes)
      const read = extract(event)
      const extraction = given.unread === undefined ? read : { ...read, unread: given.unread.reason }
      const row = enrich.start(extraction, wait, now, given.isFree)
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
