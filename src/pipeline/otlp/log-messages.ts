// The messages of OpenTelemetry's logs in Protobuf, as data: which fields of which are messages themselves.
import { wireTypes, type FieldReader } from './protobuf-fields.js'

export type Message = {
  /** The messages in it, by the number of the field. */
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
/** 1000 is where scopes were for a while, and collectors still read it. */
export const resourceLogs: Message = { inside: { 1: resource, 2: scopeLogs, 1000: scopeLogs }, texts: [3] }
/** An `ExportLogsServiceRequest`, or `LogsData`, which is the same. */
export const request: Message = { inside: { 1: resourceLogs }, texts: [] }

/** A field of another wire type than it should have is one that nobody knows. */
export const innerOf = ({ inside }: Message, { type, number }: FieldReader): Message | undefined =>
  type === wireTypes.bytes ? inside[number] : undefined

/** Whether nobody knows the field, so that what is in it can be anything. */
export const isForeign = ({ inside, texts }: Message, { type, number }: FieldReader): boolean =>
  type === wireTypes.group || (type === wireTypes.bytes && !texts.includes(number) && inside[number] === undefined)
