// Decodes records of the simulated cluster with kafkajs's original decoder, not the program's replacement.
import { createRequire } from 'node:module'
import type { Cluster } from './cluster.js'

const load = createRequire(import.meta.url)

export type OutputRecord = {
  readonly partition: number
  readonly offset: number
  readonly timestamp: number
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers: Readonly<Record<string, Buffer | readonly Buffer[]>>
}

type Decoded = {
  readonly records: readonly {
    readonly offset: string
    readonly timestamp: string
    readonly key: Buffer | null
    readonly value: Buffer | null
    readonly headers: OutputRecord['headers']
  }[]
}

const Decoder = load('kafkajs/src/protocol/decoder.js') as new (bytes: Buffer) => object
const decodeBatch = load('kafkajs/src/protocol/recordBatch/v0/decoder.js') as (decoder: object) => Promise<Decoded>

/** Cached by the bytes of a batch: executions are checked several times, and batches do not change. */
const known = new WeakMap<Buffer, readonly OutputRecord[]>()

const recordsIn = async (bytes: Buffer, partition: number): Promise<readonly OutputRecord[]> => {
  const { records } = await decodeBatch(new Decoder(bytes))
  const read = records.map(({ offset, timestamp, key, value, headers }) => ({
    partition,
    offset: Number(offset),
    timestamp: Number(timestamp),
    key,
    value,
    headers,
  }))
  known.set(bytes, read)
  return read
}

/** The records that a read_committed reader sees, in order per partition. Call outside the world, because unpacking takes real time. */
export const readTopic = async (cluster: Cluster, topic: string): Promise<readonly OutputRecord[]> => {
  const records: OutputRecord[] = []
  for (let partition = 0; partition < cluster.partitionCount(topic); partition++) {
    const { start } = cluster.log(topic, partition)
    for (const bytes of cluster.committedBatches(topic, partition))
      for (const record of known.get(bytes) ?? (await recordsIn(bytes, partition)))
        if (record.offset >= start) records.push(record)
  }
  return records
}
