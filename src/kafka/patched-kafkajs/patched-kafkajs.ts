// kafkajs with six of its inner parts replaced by ours, for the whole process; everything else of src/kafka/ takes it from here.
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type * as kafkajs from 'kafkajs'
import { quietQueue } from './quiet-queue.js'
import { decodeBatches } from '../wire/decode-batches.js'
import { dropAborted } from '../wire/drop-aborted.js'
import { encodeProduce } from '../wire/encode-produce.js'
import { encodeRequest } from '../wire/encode-request.js'
import { groupByPartition } from '../wire/group-by-partition.js'

const require = createRequire(import.meta.url)

type FetchDecoder = {
  readonly buffer: Buffer
  readonly offset: number
  readInt32: () => number
  canReadBytes: (length: number) => boolean
  readBytes: (length: number) => Buffer
}

/** What was checked to be replaceable; another version has other inner parts, and is refused by a test. */
export const mendedVersion = '2.2.4'

const home = join(dirname(require.resolve('kafkajs/package.json')), 'src')
const replace = (path: string, make: (original: unknown) => unknown): void => {
  const original: unknown = require(join(home, path))
  const entry = require.cache[require.resolve(join(home, path))]
  if (entry) entry.exports = make(original)
}

// Wakes for nothing, and Node 24 complains about how; see quiet-queue.
replace('network/requestQueue/index.js', quietQueue)
// Leaks aborted records in three cases; see drop-aborted.
replace('consumer/filterAbortedMessages.js', () => dropAborted)
// Overflows the stack on large batches and never gets past a batch that compaction emptied; see decode-batches.
replace('protocol/requests/fetch/v4/decodeMessages.js', (original) => (decoder: FetchDecoder): Promise<unknown> => {
  const magicAt = decoder.offset + 20
  if (
    decoder.buffer.length > magicAt &&
    decoder.buffer[magicAt] !== 2 &&
    decoder.buffer.readInt32BE(decoder.offset) > 0
  )
    return (original as (decoder: FetchDecoder) => Promise<unknown>)(decoder) // a message set from before Kafka 0.11
  const size = decoder.readInt32()
  return Promise.resolve(size <= 0 || !decoder.canReadBytes(size) ? [] : decodeBatches(decoder.readBytes(size)))
})
// Quadratic in the number of records.
replace('producer/groupMessagesPerPartition.js', () => groupByPartition)
// Two thirds of the cost of an event; and a null header value cannot be written with it.
replace('protocol/requests/produce/v3/request.js', () => encodeProduce)
// Copies everything that is sent twice more; see encode-request.
replace('protocol/request.js', () => encodeRequest)

const mended = require('kafkajs') as typeof kafkajs

export const { Kafka, logLevel, Partitioners, CompressionTypes, ConfigResourceTypes } = mended
export const installedVersion = (require('kafkajs/package.json') as { readonly version: string }).version
