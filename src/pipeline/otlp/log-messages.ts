// The message types of OpenTelemetry logs in Protobuf, as data: the fields that are messages.
import { wireTypes, type FieldReader } from './protobuf-fields.js'

export type Message = {
  /** Nested messages, by field number. */
  readonly inside: Readonly<Record<number, Message>>
  /** Its fields of text or bytes. */
  readonly texts: readonly number[]
}

const value: Message & { inside: Record<number, Message> } = { inside: {}, texts: [1, 7] }
export const attribute: Message = { inside: { 2: value }, texts: [1] }
value.inside[5] = { inside: { 1: value }, texts: [] }
value.inside[6] = { inside: { 1: attribute }, texts: [] }

export const logRecord: Message = { inside: { 5: value, 6: attribute }, texts: [3, 9, 10, 12] }
const scope: Message = { inside: { 3: attribute }, texts: [1, 2] }
export const scopeLogs: Message = { inside: { 1: scope, 2: logRecord }, texts: [3] }
const resource: Message = { inside: { 1: attribute }, texts: [] }
/** Field 1000 is a former place of scopes, which collectors still read. */
export const resourceLogs: Message = { inside: { 1: resource, 2: scopeLogs, 1000: scopeLogs }, texts: [3] }
/** An `ExportLogsServiceRequest` or the identical `LogsData`. */
export const request: Message = { inside: { 1: resourceLogs }, texts: [] }

/** A field with an unexpected wire type counts as unknown. */
export const innerOf = ({ inside }: Message, { type, number }: FieldReader): Message | undefined =>
  type === wireTypes.bytes ? inside[number] : undefined

/** Whether the field is unknown, so its content can be anything. */
export const isForeign = ({ inside, texts }: Message, { type, number }: FieldReader): boolean =>
  type === wireTypes.group || (type === wireTypes.bytes && !texts.includes(number) && inside[number] === undefined)
