// Reads the schema id of a value, from a header or from the Confluent prefix of the value.
import type { RecordOrigin } from '../../pipeline/batch/cut-batch.js'
import { createReading, readVarint, Undecodable, unzigzag } from './reading.js'

/** The id of a schema, or its GUID as hexadecimal text. */
export type SchemaKey = number | string

export type SchemaId = {
  readonly key: SchemaKey
  /** The offset of the value itself. */
  readonly at: number
  /** The rest of the header after the id. */
  readonly rest: Buffer | undefined
}

const header = '__value_schema_id'
/** The first byte: 0 for an id of four bytes, 1 for a GUID of sixteen. */
const idFollows = 0
const guidFollows = 1

/** Undefined if the value has none. A header takes precedence over a prefix. */
export const schemaIdOf = (bytes: Buffer, { headers }: Pick<RecordOrigin, 'headers'>): SchemaId | undefined => {
  const sent = headers.length === 0 ? undefined : headers.findLast(([name]) => name === header)?.[1]
  if (!sent) {
    const key = keyIn(bytes)
    return key === undefined ? undefined : { key, at: lengthOf(key), rest: undefined }
  }
  const key = keyIn(sent)
  return key === undefined ? undefined : { key, at: 0, rest: sent.subarray(lengthOf(key)) }
}

const keyIn = (bytes: Buffer): SchemaKey | undefined => {
  if (bytes[0] === idFollows && bytes.length >= 5) return bytes.readUInt32BE(1)
  return bytes[0] === guidFollows && bytes.length >= 17 ? bytes.toString('hex', 1, 17) : undefined
}

const lengthOf = (key: SchemaKey): number => (typeof key === 'number' ? 5 : 17)

const maxIndexes = 32

/** The path of the message in its .proto file: a count and that many indexes; a single 0 means the first message. Throws Undecodable. */
export const readIndexes = (
  bytes: Buffer,
  from: number,
): { readonly indexes: readonly number[]; readonly at: number } => {
  const reading = createReading(bytes, from)
  const count = Number(unzigzag(readVarint(reading)))
  if (count < 0 || count > maxIndexes) throw new Undecodable('has invalid message indexes')
  if (count === 0) return { indexes: [0], at: reading.at }
  const indexes = Array.from({ length: count }, () => Number(unzigzag(readVarint(reading))))
  return { indexes, at: reading.at }
}
