// The one event of an envelope: what is known is the event's, the bytes are the envelope's.
import type { Annotation, Status } from '../../domain/annotation.js'
import type { Level } from '../../domain/finding.js'
import { parseObject } from '../../domain/json-object.js'
import type { Extraction } from '../../domain/sighting.js'
import type { Judged } from '../../domain/judged.js'
import type { EventIn, EventOut, Reduced } from '../annotate.js'
import type { Event } from '../event.js'
import type { Batch } from './cut-batch.js'
import type { AttributeSettings } from './otlp.js'
import { addFields } from './splunk-fields.js'

export type PlaceSettingsOfBatch = AttributeSettings & {
  /** The bytes of an object with a text as its annotation. */
  readonly atTop: (bytes: Buffer, text: string) => Buffer
}

export class EnvelopedEvent implements EventOut {
  readonly origin: string
  readonly time: number | undefined
  readonly key: Buffer | null | undefined
  readonly event: Event
  readonly extraction: Extraction
  readonly judged: readonly Judged[]
  readonly status: Status
  readonly verdict: Level
  private readonly original: Buffer

  constructor(
    { bytes }: EventIn,
    private readonly batch: Batch,
    private readonly inner: EventOut,
    private readonly settings: PlaceSettingsOfBatch,
  ) {
    const { origin, time, key, event, extraction, judged, status, verdict } = inner
    this.original = bytes
    this.origin = origin
    this.time = time
    this.key = key
    this.event = event
    this.extraction = extraction
    this.judged = judged
    this.status = status
    this.verdict = verdict
  }

  get annotation(): Annotation {
    return this.inner.annotation
  }

  annotationText(reduced?: Reduced): string {
    return this.inner.annotationText(reduced)
  }

  beside(reduced?: Reduced): string | undefined {
    return this.batch.place === 'header' ? this.annotationText(reduced) : undefined
  }

  bytes(reduced?: Reduced): Buffer {
    const { original, batch, inner, settings } = this
    if (batch.place === 'header') return original
    if (batch.place === 'top') return settings.atTop(original, this.annotationText(reduced))
    const { from = 0, to = 0 } = batch.members[0] ?? {}
    if (inner.event.reading === 'json' && original[from] === 0x7b)
      return Buffer.concat([original.subarray(0, from), inner.bytes(reduced), original.subarray(to)])
    return addFields(original, parseObject(Buffer.from(this.annotationText(reduced))) ?? {}, settings)
  }
}
