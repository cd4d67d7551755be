// Splits a record of many events into members: an array, NDJSON, or a known shape around a list.
import type { Forgeries } from '../annotate/forgeries.js'
import type { TopicFormat, ValueFormat } from '../../domain/topic-format.js'
import type { Unread } from '../../domain/unread.js'
import { deepest, endOfValue } from '../json-grammar.js'
import type { Frame } from '../otlp/find-log-records.js'
import type { Around } from './find-forged.js'
import { array, eventsAt, firstInk, isList, shapeAt, type AnnotationPlace, type Span, type Shape } from './shapes.js'

export type Batch = {
  /** In record order; past the limit the last one covers the whole rest, which is treated as one event. */
  readonly members: readonly Span[]
  /** The total number of members, including those past the limit. */
  readonly count: number
  /** The place for annotations. */
  readonly place: AnnotationPlace
  /** The unpacked content, which positions of members refer to; absent if it is the record itself. */
  readonly content?: Buffer | undefined
  /** OpenTelemetry log records in JSON. */
  readonly isOtlp?: boolean | undefined
  /** OpenTelemetry log records in Protobuf: the members, with the positions of their lengths. */
  readonly logRecords?: readonly Frame[] | undefined
  /** An envelope with a single event. */
  readonly isOne?: true
  /** The record without forged annotations around its events; all positions refer to it. */
  readonly record?: Buffer
  /** The parts around the events to search for forged annotations. */
  readonly around?: Around | undefined
  /** The same for unpacked content that is not written back. */
  readonly packed?: Around | undefined
  /** The format of a value that is not text; it determines how the value is written. */
  readonly format?: ValueFormat | undefined
  /** Why the value could not be decoded; its raw bytes are searched instead. */
  readonly unread?: Unread | undefined
  /** Forged annotations around its events. */
  readonly forgeries?: Forgeries | undefined
}

/** The origin of a record, which determines how its value is decoded. */
export type RecordOrigin = {
  readonly topic: string
  readonly headers: readonly (readonly [string, Buffer | null])[]
  /** The format of the value, if it differs from the topic because this program wrote it. */
  readonly format?: TopicFormat | undefined
}

/** Without an origin the bytes are text. */
export type CutBatch = (bytes: Buffer, record?: RecordOrigin) => Batch | undefined

/** More than any log shipper puts into one record; the limits bound the cost of hostile records. */
export const batchLimits = { maxMembers: 10_000, maxBytes: 16_777_216 } as const

/** The start of the content, after a byte order mark and whitespace. */
export const startOf = (bytes: Buffer): number =>
  firstInk(bytes, bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0)

/** Recognises ordinary events quickly by their first bytes and the lack of line breaks. */
export const cutBatch: CutBatch = (bytes) => {
  if (bytes.length > batchLimits.maxBytes) return undefined
  const start = startOf(bytes)
  if (bytes[start] === 0x7b) {
    const shape = shapeAt(bytes, start)
    return (shape && isList(shape) ? cutShape(bytes, start, shape) : undefined) ?? cutLines(bytes, start)
  }
  return bytes[start] === 0x5b && bytes[lastInk(bytes, bytes.length)] === 0x5d
    ? cutShape(bytes, start, array)
    : undefined
}

const cutShape = (bytes: Buffer, start: number, shape: Shape): Batch | undefined => {
  const members = eventsAt(bytes, start, shape)
  return members && batchOf(bytes, members, shape.place, () => [start])
}

/** One event per line: the first two lines that are not empty begin like objects, and the first is one. */
const cutLines = (bytes: Buffer, start: number): Batch | undefined => {
  const first = bytes.indexOf(0x0a, start)
  if (first < 0 || bytes[lastInk(bytes, first)] !== 0x7d) return undefined
  const isSecond = bytes[firstInk(bytes, first)] === 0x7b
  if (!isSecond || endOfValue(bytes.subarray(0, first), start, deepest) !== lastInk(bytes, first) + 1) return undefined
  const members: Span[] = []
  for (let from = start; from < bytes.length;) {
    const found = bytes.indexOf(0x0a, from)
    const end = found < 0 ? bytes.length : found
    const begin = Math.min(end, firstInk(bytes, from))
    if (begin < end) members.push({ from: begin, to: lastInk(bytes, end) + 1 })
    from = end + 1
  }
  const isObjectAt = ({ from, to }: Span): boolean => endOfValue(bytes.subarray(0, to), from, deepest) === to
  return batchOf(bytes, members, 'member', (rest) => rest.filter(isObjectAt).map(({ from }) => from))
}

/** A batch needs at least one member that is an object, to hold an annotation. */
const batchOf = (
  bytes: Buffer,
  members: readonly Span[],
  place: AnnotationPlace,
  rootsOf: (rest: readonly Span[]) => readonly number[],
): Batch | undefined => {
  const { length: count } = members
  const { maxMembers } = batchLimits
  if (!members.some(({ from }) => bytes[from] === 0x7b)) return undefined
  const isOtlp = place === 'attributes'
  const events = count <= maxMembers ? members : members.slice(0, maxMembers)
  // An OpenTelemetry record is read in another form than it is written, so the whole record is searched here.
  const roots = rootsOf(members.slice(maxMembers))
  const around = { roots, events: isOtlp ? [] : events, hasAttributes: isOtlp }
  if (count <= maxMembers) return { members, count, place, isOtlp, around }
  const rest = { from: members[maxMembers]?.from ?? 0, to: members.at(-1)?.to ?? 0 }
  return { members: [...events, rest], count, place, isOtlp, around }
}

/** The position of the last non-blank byte before `end`. */
const lastInk = (bytes: Buffer, end: number): number => {
  let at = end - 1
  while (at >= 0 && (bytes[at] ?? 0) <= 0x20) at--
  return at
}
