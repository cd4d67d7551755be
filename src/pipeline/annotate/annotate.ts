// Annotate: adds the annotation to an event.
import type { Annotation, AnnotationSummary, Status } from '../../domain/annotation.js'
import type { Level } from '../../domain/finding.js'
import type { FormerVerdict, Judged } from '../../domain/verdict.js'
import type { Extraction } from '../../domain/sighting.js'
import { createAnnotationText, type AnnotationText, type TextSettings } from './annotation-text.js'
import { stating, untouched, type Forgeries } from './forgeries.js'
import { createPlace, type PlaceAnnotation, type PlaceSettings } from './place.js'
import { writeAnnotation, writeCompact } from './write-annotation.js'
import type { Event } from '../event.js'
import type { Batch } from '../batch/cut-batch.js'

export type EventIn = {
  readonly bytes: Buffer
  /** Where the event was first read (`topic/partition/offset`, `file:line`); its enrichment id derives from it. */
  readonly origin: string
  /** Epoch milliseconds, used if the event has no time of its own. */
  readonly time?: number | undefined
  /** The record's key, if any. */
  readonly key?: Buffer | null | undefined
  /** The former verdict of a replayed event. */
  readonly former?: FormerVerdict | undefined
  /** The former verdicts of its members, if it is a batch. */
  readonly formers?: readonly (FormerVerdict | undefined)[] | undefined
  /** Its members, if it was already looked at; null if it is one event. */
  readonly batch?: Batch | null | undefined
}

/** How much is left out to save space: `compact` details; `accused` all members of a batch but the accused; `worst` every member. */
export type Reduced = 'compact' | 'accused' | 'worst'

export type EventOut = Pick<EventIn, 'origin' | 'time' | 'key'> & {
  readonly event: Event
  /** Available without creating the annotation. */
  readonly status: Status
  readonly verdict: Level
  /** The full annotation, whatever form is written. */
  readonly annotation: Annotation
  /** Its flat members, which cost less. */
  readonly summary: AnnotationSummary
  /** Members that look like our annotation; absent if there are none. */
  readonly forgeries?: Forgeries | undefined
  /** The annotation as JSON, for other placements: the event stays as it is, unless `stated` says what became of forgeries. */
  readonly annotationText: (reduced?: Reduced, stated?: Forgeries) => string
  /** The event with its annotation. */
  readonly bytes: (reduced?: Reduced) => Buffer
  /** What has no place in the bytes, as JSON, and that there are forgeries in them: it goes into a header. */
  readonly beside?: (reduced?: Reduced) => string | undefined
  /** The events of a batch. */
  readonly members?: readonly EventOut[] | undefined
  /** What a batch comes out as if it is split: a record for every member. */
  readonly parts?: readonly Part[] | undefined
  readonly extraction: Extraction
  readonly judged: readonly Judged[]
}

/** A member that comes out as a record of its own, and its bytes as they were read. */
export type Part = { readonly own: Buffer; readonly event: EventOut }

/** What some records come out as, one after the other. */
export const outputsOf = (records: readonly EventOut[]): readonly EventOut[] =>
  records.flatMap((one) => one.parts?.map(({ event }) => event) ?? one)

/** The events of some records: the members of batches, and the others as they are. */
export const eventsIn = (records: readonly EventOut[]): readonly EventOut[] =>
  records.some(({ members }) => members) ? records.flatMap((one) => one.members ?? one) : records

type AnnotateSettings = PlaceSettings & TextSettings

/** `judged` has one element per sighting, in the same order. */
export type Annotate = (given: EventIn, event: Event, extraction: Extraction, judged: readonly Judged[]) => EventOut

export const createAnnotate = (settings: AnnotateSettings): Annotate => {
  const write = createAnnotationText(settings)
  const place = createPlace(settings)
  return (given, event, extraction, judged) => {
    const written = write(extraction, judged, event.reading, given.origin)
    const cut = place.forgeriesIn(event)
    const { forged: left = 0 } = extraction
    const forgeries = cut + left === 0 ? undefined : { cut, left }
    return new AnnotatedEvent(given, event, extraction, judged, place, written, forgeries)
  }
}

/** A class because getters on a prototype cost nothing per event; the annotation is created on demand. */
class AnnotatedEvent implements EventOut {
  readonly origin: string
  readonly time: number | undefined
  readonly key: Buffer | null | undefined
  private made: Annotation | undefined

  constructor(
    { origin, time, key }: EventIn,
    readonly event: Event,
    readonly extraction: Extraction,
    readonly judged: readonly Judged[],
    private readonly place: PlaceAnnotation,
    private readonly written: AnnotationText,
    readonly forgeries: Forgeries | undefined,
  ) {
    this.origin = origin
    this.time = time
    this.key = key
  }

  get status(): Status {
    return this.written.status
  }

  get verdict(): Level {
    return this.written.verdict
  }

  get annotation(): Annotation {
    const { written, forgeries } = this
    return (this.made ??= forgeries === undefined ? written.value() : stating(written.value(), forgeries))
  }

  get summary(): AnnotationSummary {
    const { written, forgeries } = this
    return forgeries === undefined ? written.summary() : stating(written.summary(), forgeries)
  }

  annotationText(reduced?: Reduced, stated?: Forgeries): string {
    return this.text(reduced, stated ?? (this.forgeries && untouched(this.forgeries))).join('')
  }

  beside(reduced?: Reduced): string | undefined {
    return this.forgeries !== undefined && this.forgeries.left > 0
      ? this.annotationText(reduced, this.forgeries)
      : undefined
  }

  bytes(reduced?: Reduced): Buffer {
    return this.place(this.event, this.text(reduced, this.forgeries), this.extraction, this.written.value, this.time)
  }

  private text(reduced: Reduced | undefined, stated: Forgeries | undefined): readonly string[] {
    const { text, isFull, hasId } = this.written
    const isShortened = isFull && reduced !== undefined
    if (stated === undefined) return isShortened ? [writeCompact(this.annotation, hasId)] : text
    const value = stating(this.annotation, stated)
    return [isFull && !isShortened ? writeAnnotation(value) : writeCompact(value, hasId)]
  }
}
