// An event: its original bytes and content, and its form at the input and output of the pipeline.
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
  /** The parsed object, if the content is `json` and not too large. */
  readonly value?: Readonly<Record<string, unknown>> | undefined
  /** Whether a name looks like our annotation key; absent if unchecked. */
  readonly hasAnnotationName?: boolean | undefined
}

/**
 * Bytes that start like a JSON object. They are validated once: by extraction, which scans every byte anyway, or otherwise
 * by a separate check. Text and value are created on demand.
 */
export class ObjectEvent implements Event {
  hasAnnotationName: boolean | undefined
  private decided: ContentKind | undefined
  private parsed: Readonly<Record<string, unknown>> | undefined

  constructor(
    readonly bytes: Buffer,
    readonly bom: boolean,
    /** The number of searched bytes; also the limit for parsing. */
    readonly searchedBytes = Infinity,
  ) {}

  get isLarge(): boolean {
    return this.bytes.length > this.searchedBytes
  }

  /** Whether validation is still pending. */
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

/** Whether the bytes are exactly one object, at any depth of nesting. */
const isJsonObject = (bytes: Buffer, from: number): boolean => {
  const start = skipSpace(bytes, from)
  const end = bytes[start] === 0x7b ? endOfValue(bytes, start) : failed
  return end !== failed && skipSpace(bytes, end) === bytes.length
}

export type EventIn = {
  readonly bytes: Buffer
  /** The original place of the event (`topic/partition/offset`, `file:line`), from which its enrichment id derives. */
  readonly origin: string
  /** Epoch milliseconds, used if the event has no time of its own. */
  readonly time?: number | undefined
  /** The record's key, if any. */
  readonly key?: Buffer | null | undefined
  /** The former verdict of a replayed event. */
  readonly former?: FormerVerdict | undefined
  /** The former verdicts of its members, if it is a batch. */
  readonly formers?: readonly (FormerVerdict | undefined)[] | undefined
  /** Its members, if already split; null for a single event. */
  readonly batch?: Batch | null | undefined
  /** The format of a value that is not text, and why it could not be decoded. */
  readonly format?: ValueFormat | undefined
  readonly unread?: Unread | undefined
  /** It was written without a verdict because the budget was spent, so it must not cause paid calls now. */
  readonly isFree?: boolean | undefined
}

/** The parts omitted to save space: `compact` details; `accused` harmless members of a batch; `worst` all members. */
export type Reduced = 'compact' | 'accused' | 'worst'

export type EventOut = Pick<EventIn, 'origin' | 'time' | 'key'> & {
  readonly event: Event
  /** Epoch milliseconds from the event itself, otherwise from its record. */
  readonly eventTime: number | undefined
  /** Available without creating the annotation. */
  readonly status: Status
  readonly verdict: Level
  /** The full annotation, independent of the written form. */
  readonly annotation: Annotation
  /** Its flat members, which cost less. */
  readonly summary: AnnotationSummary
  /** The flat members for each further malicious, suspicious or flagged indicator, as if it had decided. */
  readonly others: readonly AnnotationSummary[]
  /** Members that look like our annotation; absent if there are none. */
  readonly forgeries?: Forgeries | undefined
  /** The annotation as JSON, for other placements; `stated` adds the counts of forgeries. */
  readonly annotationText: (reduced?: Reduced, stated?: Forgeries) => string
  /** The event with its annotation. */
  readonly bytes: (reduced?: Reduced) => Buffer
  /** Annotations without a place in the bytes, and counts of forgeries, as JSON for a header. */
  readonly beside?: (reduced?: Reduced) => string | undefined
  /** The events of a batch. */
  readonly members?: readonly EventOut[] | undefined
  /** The records of a split batch, one per member. */
  readonly parts?: readonly BatchPart[] | undefined
  /** The format of a value that is not text, and why it could not be decoded. */
  readonly format?: ValueFormat | undefined
  readonly unread?: Unread | undefined
  readonly extraction: Extraction
  readonly judged: readonly Judged[]
}

/** A member written as a record of its own, and its original bytes. */
export type BatchPart = { readonly own: Buffer; readonly event: EventOut }

/** The output records of some inputs, in order. */
export const outputsOf = (records: readonly EventOut[]): readonly EventOut[] =>
  records.flatMap((one) => one.parts?.map(({ event }) => event) ?? one)

/** The events of some records: members of batches, and single events. */
export const eventsIn = (records: readonly EventOut[]): readonly EventOut[] =>
  records.some(({ members }) => members) ? records.flatMap((one) => one.members ?? one) : records
