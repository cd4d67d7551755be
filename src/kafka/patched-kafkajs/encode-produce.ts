// Encodes a produce request (version 3 and up) with our record batches directly into the send buffer.
import { prepareBatch } from '../wire/encode-batch.js'
import type { Encoded } from './encode-request.js'
import type { NewRecord } from '../wire/record.js'

type Produce = {
  readonly acks: number
  readonly timeout: number
  readonly transactionalId?: string | null
  readonly producerId?: unknown
  readonly producerEpoch?: number
  readonly compression?: number
  readonly topicData: readonly {
    readonly topic: string
    readonly partitions: readonly {
      readonly partition: number | string
      readonly firstSequence?: number
      readonly messages: readonly NewRecord[]
    }[]
  }[]
}

export const encodeProduce = ({
  acks,
  timeout,
  transactionalId = null,
  producerId = -1,
  producerEpoch = 0,
  compression = 0,
  topicData,
}: Produce): Record<string, unknown> => ({
  apiKey: 0,
  apiVersion: 3,
  apiName: 'Produce',
  expectResponse: () => acks !== 0,
  /** `before`: the number of bytes reserved at the start, for the request header. */
  encode: (before = 0): Promise<Encoded> => {
    const head = {
      codec: compression,
      transactional: transactionalId !== null && transactionalId !== '',
      producerId: BigInt(String(producerId)),
      producerEpoch,
    }
    const topics = topicData.map(({ topic, partitions }) => ({
      topic,
      batches: partitions.map(({ partition, firstSequence = 0, messages }) => ({
        partition: Number(partition),
        batch: prepareBatch(messages, { ...head, firstSequence }),
      })),
    }))
    let length = before + textBytes(transactionalId) + 2 + 4 + 4
    for (const { topic, batches } of topics) {
      length += textBytes(topic) + 4
      for (const { batch } of batches) length += 4 + 4 + batch.length
    }
    const bytes = Buffer.allocUnsafe(length)
    let at = writeText(bytes, before, transactionalId)
    at = bytes.writeInt16BE(acks, at)
    at = bytes.writeInt32BE(timeout, at)
    at = bytes.writeInt32BE(topics.length, at)
    for (const { topic, batches } of topics) {
      at = writeText(bytes, at, topic)
      at = bytes.writeInt32BE(batches.length, at)
      for (const { partition, batch } of batches) {
        at = bytes.writeInt32BE(partition, at)
        at = bytes.writeInt32BE(batch.length, at)
        batch.writeTo(bytes, at)
        at += batch.length
      }
    }
    const buffer = bytes.subarray(before)
    return Promise.resolve({ buf: buffer, buffer, size: () => buffer.length, ...(before > 0 ? { whole: bytes } : {}) })
  },
})

const textBytes = (value: string | null): number => 2 + (value === null ? 0 : Buffer.byteLength(value))

const writeText = (bytes: Buffer, at: number, value: string | null): number => {
  if (value === null) return bytes.writeInt16BE(-1, at)
  const written = bytes.write(value, at + 2)
  bytes.writeInt16BE(written, at)
  return at + 2 + written
}
