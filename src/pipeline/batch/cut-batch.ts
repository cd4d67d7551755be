// Cuts a record that holds many events into its members: an array, NDJSON, or one of the known shapes around a list.
import type { Forgeries } from '../annotate/forgeries.js'
import type { TopicFormat, ValueFormat } from '../../domain/topic-format.js'
import type { Unread } from '../../domain/unread.js'
import { deepest, endOfValue } from '../json-grammar.js'
import type { Frame } from '../otlp/find-log-records.js'
import type { Around } from './find-forged.js'
import { array, eventsAt, firstInk, isList, shapeAt, type AnnotationPlace, type Span, type Shape } from './shapes.js'

export type Batch = {
  /** In the order of the record; past the limit the last one is the whole rest, looked at as one event. */
  readonly members: readonly Span[]
  /** How many there are, also where the rest is one. */
  readonly count: number
  /** Where annotations go. */
  readonly place: AnnotationPlace
  /** What is read instead of the record, and what the places of members refer to if there are many. */
  readonly content?: Buffer | undefined
  /** OpenTelemetry log records in JSON. */
  readonly isOtlp?: boolean | undefined
  /** OpenTelemetry log records in Protobuf: the members without the rest, and where their lengths are. */
  readonly logRecords?: readonly Frame[] | undefined
  /** An envelope of one event, which is the record's event. */
  readonly isOne?: true
  /** The record without what was forged around its events, if something was: all places refer to it. */
  readonly record?: Buffer
  /** Where to look for that: beyond the events that are annotated. */
  readonly around?: Around | undefined
  /** The same in the content, if that is not what is written. */
  readonly packed?: Around | undefined
  /** The format of its value, if that is not text: the value comes out byte for byte, or as its format has it. */
  readonly format?: ValueFormat | undefined
  /** Why the value could not be read as its format says; its bytes are searched as they are. */
  readonly unread?: Unread | undefined
  /** What was forged around its events. */
  readonly forgeries?: Forgeries | undefined
}

/** Where a record is from, for a value that does not say by itself how it is read. */
export type RecordOrigin = {
  readonly topic: string
  readonly headers: readonly (readonly [string, Buffer | null])[]
  /** The format of its value, if it is another than its topic's: we have written it to that topic. */
  readonly format?: TopicFormat | undefined
}

/** Without an origin the bytes are text. */
export type CutBatch = (bytes: Buffer, record?: RecordOrigin) => Batch | undefined

/** More than any shipper puts into one record; they bound what a hostile one can cost. */
export const batchLimits = { maxMembers: 10_000, maxBytes: 16_777_216 } as const

/** Where the content begins, after a byte order mark and blanks. */
export const startOf = (bytes: Buffer): number =>
  firstInk(bytes, bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0)

/** An ordinary event is told from a batch by its first bytes and by having no line break. */
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

/** At least one member is an object that an annotation fits into. */
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
  // An OpenTelemetry record is read in another form than it is written, so all of it is looked at here.
  const roots = rootsOf(members.slice(maxMembers))
  const around = { roots, events: isOtlp ? [] : events, hasAttributes: isOtlp }
  if (count <= maxMembers) return { members, count, place, isOtlp, around }
  const rest = { from: members[maxMembers]?.from ?? 0, to: members.at(-1)?.to ?? 0 }
  return { members: [...events, rest], count, place, isOtlp, around }
}

/** The place of the last byte before `end` that is no blank. */
const lastInk = (bytes: Buffer, end: number): number => {
  let at = end - 1
  while (at >= 0 && (bytes[at] ?? 0) <= 0x20) at--
  return at
}
