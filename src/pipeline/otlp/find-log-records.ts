// Finds the log records of an OpenTelemetry request in Protobuf, and forged annotation attributes.
import type { AnnotationKey } from '../annotate/annotation-key.js'
import { createCuts, applyEdits, type Edit } from '../annotate/edit.js'
import { deepest } from '../json-grammar.js'
import {
  attribute,
  innerOf,
  isForeign,
  logRecord,
  request,
  resourceLogs,
  scopeLogs,
  type Message,
} from './log-messages.js'
import { FieldReader, varintOf, wireTypes } from './protobuf-fields.js'

/** The position of a nested message: start of field, length and content, and its end. */
export type Frame = {
  readonly start: number
  readonly lengthAt: number
  readonly from: number
  readonly to: number
  /** Absent in the request itself. */
  readonly parent?: Frame | undefined
}

type FoundLogs = {
  /** The first of them. */
  readonly frames: readonly Frame[]
  readonly count: number
  /** The end of the last log record. */
  readonly to: number
  /** The number of attributes with our name at any depth; nested ones count once. */
  readonly forged: number
  /** The number of unknown fields that may contain one; they stay. */
  readonly hidden: number
}

const framed: ReadonlySet<Message> = new Set([resourceLogs, scopeLogs, logRecord])

/** Undefined if the bytes are not such a request, or too deep. `visit` gets the log records after the first `maxFrames`, until it returns false. */
export const findLogRecords = (
  bytes: Buffer,
  key: AnnotationKey | undefined,
  maxFrames: number,
  visit?: (from: number, to: number) => boolean,
): FoundLogs | undefined => {
  const frames: Frame[] = []
  let count = 0
  let last = 0
  let forged = 0
  let hidden = 0
  let isVisited = visit !== undefined
  const walk = (message: Message, from: number, to: number, depth: number, parent?: Frame): boolean => {
    const field = new FieldReader(bytes, from, to)
    while (field.next()) {
      const inner = innerOf(message, field)
      if (!inner) {
        if (isForeign(message, field) && key?.mayHold(bytes.subarray(field.start, field.to)) === true) hidden++
        continue
      }
      // Its removal includes nested ones.
      const withIt =
        key && inner === attribute && isNamedAt(bytes, field, key.isAnnotationName)
          ? { forged: forged + 1, hidden }
          : undefined
      let frame = parent
      if (inner === logRecord) {
        count++
        last = field.to
        if (count > maxFrames && isVisited) isVisited = visit?.(field.from, field.to) === true
      }
      if (framed.has(inner) && count <= maxFrames) {
        frame = { start: field.start, lengthAt: field.lengthAt, from: field.from, to: field.to, parent }
        if (inner === logRecord) frames.push(frame)
      }
      if (depth === 0 || !walk(inner, field.from, field.to, depth - 1, frame)) return false
      if (withIt) ({ forged, hidden } = withIt)
    }
    return !field.isBroken
  }
  return walk(request, 0, bytes.length, deepest) ? { frames, count, to: last, forged, hidden } : undefined
}

/** Removes attributes by name; enclosing lengths are written in their shortest form. */
export const withoutAttributes = (bytes: Buffer, isForged: (name: string) => boolean): Buffer => {
  const cuts = createCuts()
  const lengths: Edit[] = []
  /** How many bytes fewer there are. */
  const clean = (message: Message, from: number, to: number): number => {
    let fewer = 0
    const field = new FieldReader(bytes, from, to)
    while (field.next()) {
      const inner = innerOf(message, field)
      if (!inner) continue
      if (inner === attribute && isNamedAt(bytes, field, isForged)) {
        cuts.add({ from: field.start, to: field.to })
        fewer += field.to - field.start
        continue
      }
      const less = clean(inner, field.from, field.to)
      if (less === 0) continue
      const length = varintOf(field.to - field.from - less)
      lengths.push({ at: field.lengthAt, until: field.from, text: length })
      fewer += less + (field.from - field.lengthAt) - length.length
    }
    return fewer
  }
  clean(request, 0, bytes.length)
  return applyEdits(bytes, [...cuts.edits, ...lengths])
}

/** Whether a log record has an attribute with such a name. */
export const hasAttribute = (bytes: Buffer, { from, to }: Frame, isNamed: (name: string) => boolean): boolean => {
  const field = new FieldReader(bytes, from, to)
  while (field.next()) if (innerOf(logRecord, field) === attribute && isNamedAt(bytes, field, isNamed)) return true
  return false
}

/** Checks every occurrence of a repeated name. */
const isNamedAt = (bytes: Buffer, { from, to }: FieldReader, isNamed: (name: string) => boolean): boolean => {
  const field = new FieldReader(bytes, from, to)
  while (field.next())
    if (field.number === 1 && field.type === wireTypes.bytes && isNamed(bytes.toString('utf8', field.from, field.to)))
      return true
  return false
}
