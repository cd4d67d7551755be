// The messages of OpenTelemetry's logs in Protobuf, as data: which fields of which are messages themselves.
import { wireTypes, type FieldReader } from './protobuf-fields.js'

export type Message = {
  /** The messages in it, by the number of the field. */
  readonly inside: Readonly<Record<number, Message>>
}

const value: Message & { inside: Record<number, Message> } = { inside: {} }
export const attribute: Message = { inside: { 2: value } }
value.inside[5] = { inside: { 1: value } }
value.inside[6] = { inside: { 1: attribute } }

export const logRecord: Message = { inside: { 5: value, 6: attribute } }
export const scopeLogs: Message = { inside: { 1: { inside: { 3: attribute } }, 2: logRecord } }
/** 1000 is where scopes were for a while, and collectors still read it. */
export const resourceLogs: Message = { inside: { 1: { inside: { 1: attribute } }, 2: scopeLogs, 1000: scopeLogs } }
/** An `ExportLogsServiceRequest`, or `LogsData`, which is the same. */
export const request: Message = { inside: { 1: resourceLogs } }

/** A field of another wire type than it should have is one that nobody knows. */
export const innerOf = ({ inside }: Message, { type, number }: FieldReader): Message | undefined =>
  type === wireTypes.bytes ? inside[number] : undefined
