// Puts the annotation into an event.
import { systemClock, type Clock } from '../../base/clock.js'
import type { Annotation, AnnotationSummary, Status } from '../../domain/annotation.js'
import type { Level } from '../../domain/finding.js'
import type { Judged } from '../../domain/verdict.js'
import type { Extraction } from '../../domain/sighting.js'
import type { Event, EventIn, EventOut, Reduced } from '../event.js'
import { eventTime } from '../event-time.js'
import { createAnnotationText, type AnnotationText, type TextSettings } from './annotation-text.js'
import { stating, untouched, type Forgeries } from './forgeries.js'
import { createPlace, type PlaceAnnotation, type PlaceSettings } from './place.js'
import { writeAnnotation, writeCompact } from './write-annotation.js'

type AnnotateSettings = PlaceSettings &
  TextSettings & {
    /** The current time, for an event whose time has no year and whose record has no time. */
    readonly clock?: Clock
  }

/** `judged` has one element per sighting, in the same order. */
export type Annotate = (given: EventIn, event: Event, extraction: Extraction, judged: readonly Judged[]) => EventOut

export const createAnnotate = (settings: AnnotateSettings): Annotate => {
  const write = createAnnotationText(settings)
  const place = createPlace(settings)
  const { clock = systemClock } = settings
  return (given, event, extraction, judged) => {
    const written = write(extraction, judged, event.reading, given.origin)
    const cut = place.forgeriesIn(event)
    const { forged: left = 0 } = extraction
    const forgeries = cut + left === 0 ? undefined : { cut, left }
    return new AnnotatedEvent(given, event, extraction, judged, place, clock, written, forgeries)
  }
}

/** A class because getters on a prototype cost nothing per event; the annotation is created on demand. */
class AnnotatedEvent implements EventOut {
  readonly origin: string
  readonly time: number | undefined
  readonly key: Buffer | null | undefined
  private made: Annotation | undefined
  private happened: number | undefined

  constructor(
    { origin, time, key }: EventIn,
    readonly event: Event,
    readonly extraction: Extraction,
    readonly judged: readonly Judged[],
    private readonly place: PlaceAnnotation,
    private readonly clock: Clock,
    private readonly written: AnnotationText,
    readonly forgeries: Forgeries | undefined,
  ) {
    this.origin = origin
    this.time = time
    this.key = key
  }

  get eventTime(): number | undefined {
    const { event, extraction, time } = this
    if (this.happened !== undefined) return this.happened
    const now = time ?? this.clock.now()
    const named = extraction.time === undefined ? undefined : eventTime(extraction.time, now)
    return (this.happened = named ?? eventTime(event.text, now) ?? time)
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

  get others(): readonly AnnotationSummary[] {
    return this.written.others()
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
    const time = this.event.reading === 'json' ? undefined : this.eventTime
    return this.place(this.event, this.text(reduced, this.forgeries), this.extraction, this.written.value, time)
  }

  private text(reduced: Reduced | undefined, stated: Forgeries | undefined): readonly string[] {
    const { text, isFull, hasId } = this.written
    const isShortened = isFull && reduced !== undefined
    if (stated === undefined) return isShortened ? [writeCompact(this.annotation, hasId)] : text
    const value = stating(this.annotation, stated)
    return [isFull && !isShortened ? writeAnnotation(value) : writeCompact(value, hasId)]
  }
}
