// The line: a chunk of events in, the same events with their annotations out, in order.
import type { Annotation, Status } from '../domain/annotation.js'
import type { Level } from '../domain/finding.js'
import type { Direction, Extraction, Sighting } from '../domain/sighting.js'
import type { Annotate } from './annotate.js'
import { concludeInWriting, type Conclusion } from './conclude.js'
import type { Sided } from './direction.js'
import type { Enrich, Judged } from './enrich.js'
import type { Event } from './event.js'
import { writeAnnotation } from './write-annotation.js'

export type EventIn = {
  readonly bytes: Buffer
  /** Where the event was first read (`topic/partition/offset`, `file:line`); its enrichment id derives from it. */
  readonly origin: string
  /** Epoch milliseconds, for an event that carries no time of its own. */
  readonly time?: number | undefined
  /** The record's key, where it has one. */
  readonly key?: Buffer | null | undefined
}

export type EventOut = Pick<EventIn, 'origin' | 'time' | 'key'> & {
  readonly event: Event
  /** The two members of the annotation that everybody counts, without the annotation being made for them. */
  readonly status: Status
  readonly verdict: Level
  readonly annotation: Annotation
  /** The annotation as JSON text, for placements beside the event; written when it is read. */
  readonly annotationText: string
  /** The event with its annotation. */
  readonly bytes: () => Buffer
  /** Who was judged how, and what is still awaited. */
  readonly judged: readonly Judged[]
}

/**
 * Never throws and never rejects. Answers at once, without a promise, when nothing has to be waited for.
 * `behind` says that the stream lags: then nothing is waited for.
 */
export type Pipeline = (
  chunk: readonly EventIn[],
  behind: boolean,
) => readonly EventOut[] | Promise<readonly EventOut[]>

export type Steps = {
  readonly decode: (bytes: Buffer) => Event
  readonly extract: (event: Event) => Extraction
  readonly enrich: Enrich
  readonly direction: (sightings: readonly Sighting[], rows: readonly Sided[]) => Direction
  readonly annotate: Annotate
  /** Says of every event by which replay it was judged. */
  readonly replayId?: string | undefined
}

export const createPipeline = ({ decode, extract, enrich, direction, annotate, replayId }: Steps): Pipeline => {
  const finish = (given: EventIn, event: Event, extraction: Extraction, judged: readonly Judged[]): EventOut => {
    const concluded = concludeInWriting({
      extraction,
      rows: judged,
      direction: direction(extraction.sightings, judged),
      origin: given.origin,
      reading: event.reading,
      replayId,
    })
    return new Finished(
      given,
      event,
      judged,
      annotate,
      annotate.isComplete(event) ? concluded : complete(event, concluded),
    )
  }

  const complete = (event: Event, concluded: Conclusion): Conclusion => {
    const annotation = annotate.complete(event, concluded.annotation())
    return { ...concluded, writing: [writeAnnotation(annotation)], annotation: () => annotation }
  }

  return (chunk, behind) => {
    const events: Event[] = []
    const extractions: Extraction[] = []
    for (const { bytes } of chunk) {
      const event = decode(bytes)
      events.push(event)
      extractions.push(extract(event))
    }
    const rows = enrich(extractions, behind)
    const finishAll = (all: readonly (readonly Judged[])[]): EventOut[] =>
      chunk.map((one, place) => finish(one, events[place] as Event, extractions[place] as Extraction, all[place] ?? []))
    return rows instanceof Promise ? rows.then(finishAll) : finishAll(rows)
  }
}

/** A class for its getters: they are made once and not for every event, and the annotation only when somebody reads it. */
class Finished implements EventOut {
  readonly origin: string
  readonly time: number | undefined
  readonly key: Buffer | null | undefined
  private made: Annotation | undefined

  constructor(
    { origin, time, key }: EventIn,
    readonly event: Event,
    readonly judged: readonly Judged[],
    private readonly annotate: Annotate,
    private readonly concluded: Conclusion,
  ) {
    this.origin = origin
    this.time = time
    this.key = key
  }

  get status(): Status {
    return this.concluded.status
  }

  get verdict(): Level {
    return this.concluded.verdict
  }

  get annotation(): Annotation {
    return (this.made ??= this.concluded.annotation())
  }

  get annotationText(): string {
    return this.concluded.writing.join('')
  }

  bytes(): Buffer {
    return this.annotate.place(this.event, this.concluded.annotation, this.concluded.writing, this.time)
  }
}
