// Which schema a value was written with: in a header, or in front of the value, as Confluent's clients write it.
import type { RecordOrigin } from '../../pipeline/batch/cut-batch.js'
import { createReading, readVarint, Undecodable, unzigzag } from './reading.js'

/** The id of a schema, or its GUID as hexadecimal text. */
export type SchemaKey = number | string

export type SchemaId = {
  readonly key: SchemaKey
  /** Where the value itself begins. */
  readonly at: number
  /** What the header has behind the id. */
  readonly rest: Buffer | undefined
}

const header = '__value_schema_id'
/** The first byte: an id of four bytes follows, or a GUID of sixteen. */
const idFollows = 0
const guidFollows = 1

/** Undefined if the value has none. The header is read first. */
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

/** Which message of a .proto file it is: a count and so many indexes; 0 alone is the first. Throws Undecodable. */
export const readIndexes = (
  bytes: Buffer,
  from: number,
): { readonly indexes: readonly number[]; readonly at: number } => {
  const reading = createReading(bytes, from)
  const count = Number(unzigzag(readVarint(reading)))
  if (count < 0 || count > maxIndexes) throw new Undecodable('has message indexes that are none')
  if (count === 0) return { indexes: [0], at: reading.at }
  const indexes = Array.from({ length: count }, () => Number(unzigzag(readVarint(reading))))
  return { indexes, at: reading.at }
}
