// Converts OpenTelemetry log records in Protobuf into the same plain events as those in JSON.
import { plainEvent, plainObject, type PlainMember } from '../batch/readable-record.js'
import { decodeLimits } from '../decode.js'
import { findLogRecords, type Frame } from './find-log-records.js'
import { FieldReader, signedAt, wireTypes } from './protobuf-fields.js'

/** A member by its index: a log record, or the rest after the last one. */
export const readableMember = (bytes: Buffer, logRecords: readonly Frame[], nth: number): Buffer => {
  const frame = logRecords[nth]
  return frame ? Buffer.from(readableLogRecord(bytes, frame.from, frame.to)) : readableRest(bytes, logRecords.length)
}

/** The remaining log records as one event, up to the searched size. */
export const readableRest = (bytes: Buffer, first: number): Buffer => {
  const texts: string[] = []
  let left = decodeLimits.maxEventBytes
  const take = (from: number, to: number): boolean => {
    const text = readableLogRecord(bytes, from, to)
    texts.push(text)
    left -= text.length
    return left >= 0
  }
  findLogRecords(bytes, undefined, first, take)
  return Buffer.from(texts.join('\n'))
}

/** Converts a valid log record into a plain event. */
const readableLogRecord = (bytes: Buffer, from: number, to: number): string => {
  const contents: string[] = []
  const attributes: PlainMember[] = []
  const field = new FieldReader(bytes, from, to)
  while (field.next()) {
    if (field.type !== wireTypes.bytes) continue
    if (field.number === 5) readValue(bytes, field, (text) => contents.push(text))
    if (field.number === 6) readAttribute(bytes, field, attributes)
  }
  return plainEvent(contents, attributes)
}

/**
 * The last of repeated names counts. Readers disagree on repeated values, so all of them become a list; separate members
 * could repeat a long name a million times.
 */
const readAttribute = (bytes: Buffer, { from, to }: FieldReader, members: PlainMember[]): void => {
  let name = ''
  const values: string[] = []
  const field = new FieldReader(bytes, from, to)
  while (field.next()) {
    if (field.type !== wireTypes.bytes) continue
    if (field.number === 1) name = bytes.toString('utf8', field.from, field.to)
    if (field.number === 2) readValue(bytes, field, (text) => values.push(text))
  }
  const [first] = values
  if (first !== undefined) members.push([name, values.length === 1 ? first : `[${values.join(',')}]`])
}

/** The value as JSON; nothing for empty and binary values. */
const readValue = (bytes: Buffer, { from, to }: FieldReader, take: (text: string) => void): void => {
  const field = new FieldReader(bytes, from, to)
  while (field.next()) {
    const text = textOf(bytes, field)
    if (text !== undefined) take(text)
  }
}

const textOf = (bytes: Buffer, field: FieldReader): string | undefined => {
  const { number, type, from, to } = field
  if (number === 1 && type === wireTypes.bytes) return JSON.stringify(bytes.toString('utf8', from, to))
  if (number === 2 && type === wireTypes.varint) return String(signedAt(bytes, from, to) !== 0n)
  // JSON has 64-bit numbers as text.
  if (number === 3 && type === wireTypes.varint) return `"${signedAt(bytes, from, to)}"`
  if (number === 4 && type === wireTypes.fixed64) {
    const value = bytes.readDoubleLE(from)
    return Number.isFinite(value) ? JSON.stringify(value) : `"${value}"`
  }
  if (number === 5 && type === wireTypes.bytes) return listText(bytes, field)
  return number === 6 && type === wireTypes.bytes ? objectText(bytes, field) : undefined
}

const listText = (bytes: Buffer, { from, to }: FieldReader): string => {
  const elements: string[] = []
  const field = new FieldReader(bytes, from, to)
  while (field.next()) {
    if (field.number !== 1 || field.type !== wireTypes.bytes) continue
    const { length } = elements
    readValue(bytes, field, (text) => elements.push(text))
    if (elements.length === length) elements.push('null')
  }
  return `[${elements.join(',')}]`
}

const objectText = (bytes: Buffer, { from, to }: FieldReader): string => {
  const members: PlainMember[] = []
  const field = new FieldReader(bytes, from, to)
  while (field.next()) if (field.number === 1 && field.type === wireTypes.bytes) readAttribute(bytes, field, members)
  return plainObject(members)
}
