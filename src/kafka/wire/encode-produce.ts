// A produce request, version 3 and up, with our record batches in it.
import { encodeBatch } from './encode-batch.js'
import type { NewRecord } from './record.js'

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

/** kafkajs asks of an encoder no more than its bytes. */
type Encoded = { readonly buf: Buffer; readonly buffer: Buffer; readonly size: () => number }

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
  encode: (): Promise<Encoded> => {
    const parts: Buffer[] = [text(transactionalId), int16(acks), int32(timeout), int32(topicData.length)]
    for (const { topic, partitions } of topicData) {
      parts.push(text(topic), int32(partitions.length))
      for (const { partition, firstSequence = 0, messages } of partitions) {
        const batch = encodeBatch(messages, {
          codec: compression,
          transactional: transactionalId !== null && transactionalId !== '',
          producerId: BigInt(String(producerId)),
          producerEpoch,
          firstSequence,
        })
        parts.push(int32(Number(partition)), int32(batch.length), batch)
      }
    }
    const buffer = Buffer.concat(parts)
    return Promise.resolve({ buf: buffer, buffer, size: () => buffer.length })
  },
})

const int16 = (value: number): Buffer => {
  const bytes = Buffer.allocUnsafe(2)
  bytes.writeInt16BE(value)
  return bytes
}
const int32 = (value: number): Buffer => {
  const bytes = Buffer.allocUnsafe(4)
  bytes.writeInt32BE(value)
  return bytes
}
const text = (value: string | null): Buffer =>
  value === null ? int16(-1) : Buffer.concat([int16(Buffer.byteLength(value)), Buffer.from(value)])
