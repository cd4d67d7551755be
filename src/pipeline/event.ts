// An event: its original bytes and what they contain; how it comes into the pipeline and what comes out.
import { isUtf8 } from 'node:buffer'
import type { Annotation, AnnotationSummary, ContentKind, Status } from '../domain/annotation.js'
import type { Level } from '../domain/finding.js'
import type { Extraction } from '../domain/sighting.js'
import type { ValueFormat } from '../domain/topic-format.js'
import type { Unread } from '../domain/unread.js'
import type { FormerVerdict, Judged } from '../domain/verdict.js'
import type { Forgeries } from './annotate/forgeries.js'
import type { Batch } from './batch/cut-batch.js'
import { endOfValue, failed, skipSpace } from './json-grammar.js'

export type Event = {
  readonly bytes: Buffer
  readonly reading: ContentKind
  /** The text without byte order mark; approximate for `not_utf8`, only the searched part of a large event. */
  readonly text: string
  readonly bom: boolean
  /** The object, if the content is `json` and not too large to be parsed. */
  readonly value?: Readonly<Record<string, unknown>> | undefined
  /** Whether a name looks like our annotation key; absent if that was not checked while reading. */
  readonly hasAnnotationName?: boolean | undefined
}

/**
 * Bytes that start like a JSON object. Whether they are one is decided once: by the extraction, which scans every byte anyway, or else
 * by a check of its own. Text and value are created on demand.
 */
export class ObjectEvent implements Event {
  hasAnnotationName: boolean | undefined
  private decided: ContentKind | undefined
  private parsed: Readonly<Record<string, unknown>> | undefined

  constructor(
    readonly bytes: Buffer,
    readonly bom: boolean,
    /** How many bytes are searched, and at most parsed. */
    readonly searchedBytes = Infinity,
  ) {}

  get isLarge(): boolean {
    return this.bytes.length > this.searchedBytes
  }

  /** Whether it is not decided yet. */
  get isOpen(): boolean {
    return this.decided === undefined
  }

  /** Called when a scan found one JSON object; returns false if the bytes are not UTF-8. */
  confirm(hasAnnotationName: boolean | undefined): boolean {
    const isText = isUtf8(this.bytes)
    this.decided = isText ? 'json' : this.isLarge ? 'too_large' : 'not_utf8'
    if (isText) this.hasAnnotationName = hasAnnotationName
    return isText
  }

  get reading(): ContentKind {
    if (this.decided !== undefined) return this.decided
    const { bytes, bom, isLarge } = this
    if (!isUtf8(bytes)) return (this.decided = isLarge ? 'too_large' : 'not_utf8')
    if (isJsonObject(bytes, bom ? 3 : 0)) return (this.decided = 'json')
    return (this.decided = isLarge ? 'too_large' : 'broken_json')
  }

  get text(): string {
    return this.bytes.toString('utf8', this.bom ? 3 : 0, Math.min(this.bytes.length, this.searchedBytes))
  }

  get value(): Readonly<Record<string, unknown>> | undefined {
    if (this.reading !== 'json' || this.isLarge) return undefined
    return (this.parsed ??= JSON.parse(this.text) as Readonly<Record<string, unknown>>)
  }
}

/** Exactly one, however deep it is nested. */
const isJsonObject = (bytes: Buffer, from: number): boolean => {
  const start = skipSpace(bytes, from)
  const end = bytes[start] === 0x7b ? endOfValue(bytes, start) : failed
  return end !== failed && skipSpace(bytes, end) === bytes.length
}

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
  /** The format of its record's value, if that is not text, and why the value could not be read. */
  readonly format?: ValueFormat | undefined
  readonly unread?: Unread | undefined
  /** It left because the budget was spent: nobody pays for it now either. */
  readonly isFree?: boolean | undefined
}

/** How much is left out to save space: `compact` details; `accused` all members of a batch but the accused; `worst` every member. */
export type Reduced = 'compact' | 'accused' | 'worst'

export type EventOut = Pick<EventIn, 'origin' | 'time' | 'key'> & {
  readonly event: Event
  /** When it happened, in epoch milliseconds: by the event itself, or else the time of its record. */
  readonly eventTime: number | undefined
  /** Available without creating the annotation. */
  readonly status: Status
  readonly verdict: Level
  /** The full annotation, whatever form is written. */
  readonly annotation: Annotation
  /** Its flat members, which cost less. */
  readonly summary: AnnotationSummary
  /** The flat members as if another indicator had decided: one for each further indicator that is accused or flagged. */
  readonly others: readonly AnnotationSummary[]
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
  readonly parts?: readonly BatchPart[] | undefined
  /** The format of the record's value, if that is not text, and why the value could not be read. */
  readonly format?: ValueFormat | undefined
  readonly unread?: Unread | undefined
  readonly extraction: Extraction
  readonly judged: readonly Judged[]
}

/** A member that comes out as a record of its own, and its bytes as they were read. */
export type BatchPart = { readonly own: Buffer; readonly event: EventOut }

/** What some records come out as, one after the other. */
export const outputsOf = (records: readonly EventOut[]): readonly EventOut[] =>
  records.flatMap((one) => one.parts?.map(({ event }) => event) ?? one)

/** The events of some records: the members of batches, and the others as they are. */
export const eventsIn = (records: readonly EventOut[]): readonly EventOut[] =>
  records.some(({ members }) => members) ? records.flatMap((one) => one.members ?? one) : records
