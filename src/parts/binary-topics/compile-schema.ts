// Compiles a registered schema with its references into a reader of values.
import { compileAvro, UnusableSchema } from './avro-schema.js'
import { parseDescriptor } from './parse-descriptor.js'
import { parseProto } from './parse-proto.js'
import { linkMessages, type MessageType, type ProtoFile } from './proto-file.js'
import { readAvro } from './read-avro.js'
import { readProtobuf } from './read-protobuf.js'
import { Undecodable } from './reading.js'
import { readIndexes, type SchemaId } from './schema-id.js'
import { wellKnownTypes } from './well-known-types.js'

/** Returns the JSON of a value. Throws Undecodable. */
export type ReadValue = (bytes: Buffer, id: SchemaId) => Buffer

export type RegisteredSchema = {
  /** AVRO, PROTOBUF or JSON. */
  readonly type: string
  readonly schema: string
  /** Its references, in the order of their dependencies. */
  readonly references: readonly string[]
}

/** Throws UnusableSchema. */
export const compileSchema = ({ type, schema, references }: RegisteredSchema): ReadValue => {
  if (type === 'AVRO') {
    const compiled = compileAvro(schema, references)
    return (bytes, { at }) => readAvro(bytes, at, compiled)
  }
  // The value is JSON already; the schema only constrains it.
  if (type === 'JSON') return (bytes, { at }) => bytes.subarray(at)
  if (type !== 'PROTOBUF') throw new UnusableSchema(`is of the unknown type ${JSON.stringify(type.slice(0, 40))}`)
  const find = linkMessages(protoFile(schema), [wellKnownTypes, ...references.map(protoFile)])
  return (bytes, { at, rest }) => {
    const found = readIndexes(rest ?? bytes, rest ? 0 : at)
    const message: MessageType | undefined = find(found.indexes)
    if (!message) throw new Undecodable('is a message that is not in its schema')
    return readProtobuf(bytes, rest ? at : found.at, message)
  }
}

/** Java clients register the text; Python and .NET clients the serialized form in base64. */
const protoFile = (schema: string): ProtoFile =>
  /^[A-Za-z\d+/\s]+={0,2}\s*$/.test(schema) ? parseDescriptor(Buffer.from(schema, 'base64')) : parseProto(schema)
