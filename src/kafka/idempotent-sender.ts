// An idempotent producer for one sender at a time, replaced after any send that failed.
import { setTimeout as sleep } from 'node:timers/promises'
import type { CompressionTypes, Kafka, Producer, TopicMessages } from 'kafkajs'
import type { Outgoing } from './compose.js'
import type { Send } from './deliver.js'
import { failureOf, Hopeless } from './failure.js'
import { CompressionTypes as compression } from './patched-kafkajs/patched-kafkajs.js'

export type Lane = {
  readonly send: Send
  /** Milliseconds that count against the limit of a send: without those of attempts that failed for want of a broker. */
  readonly clock: () => number
  readonly close: () => Promise<void>
}

/**
 * kafkajs takes its sequence numbers back after a failed send. If the broker had stored that batch, the next one of the same count
 * passes for its repetition and is never written. So no producer is used again after a failure, and nobody shares one:
 * a send of another partition could be waiting inside it.
 */
export const openLane = (
  kafka: Kafka,
  codec: 'none' | 'gzip' | 'zstd',
  replaced: (records: readonly Outgoing[], cause: string) => void,
  reachableMs: () => number = Date.now,
): Lane => {
  let excusedMs = 0
  let producer: Producer | undefined
  let closed = false
  const connected = async (): Promise<Producer> => {
    if (producer) return producer
    const fresh = kafka.producer({
      idempotent: true,
      maxInFlightRequests: 1,
      allowAutoTopicCreation: false,
      createPartitioner: explicitPartition,
      retry: { initialRetryTime: 100, maxRetryTime: 2_000, retries: 6 },
    })
    await fresh.connect()
    producer = fresh
    return fresh
  }
  const retire = (): void => {
    const old = producer
    producer = undefined
    old?.disconnect().catch(() => undefined) // it is not used again, however that ends
  }
  return {
    send: async (records) => {
      for (let pauseMs = 100; ; pauseMs = Math.min(pauseMs * 2, 2_000)) {
        const began = reachableMs()
        try {
          await (
            await connected()
          ).sendBatch({
            acks: -1,
            compression: codecOf(codec),
            topicMessages: byTopic(records),
          })
          return 'acknowledged'
        } catch (error) {
          const failure = failureOf(error)
          retire()
          if (failure.kind === 'refused') return { refused: failure.name }
          replaced(records, `${failure.name}: ${failure.message}`)
          if (failure.kind === 'hopeless') throw new Hopeless(`Kafka refuses our output: ${failure.message}`, true)
          if (closed) throw new Error('closed while sending')
          await sleep(pauseMs)
          if (failure.kind === 'unavailable') excusedMs += Math.max(0, reachableMs() - began)
        }
      }
    },
    clock: () => reachableMs() - excusedMs,
    close: async () => {
      closed = true
      const last = producer
      producer = undefined
      await last?.disconnect()
    },
  }
}

export const codecOf = (name: 'none' | 'gzip' | 'zstd'): CompressionTypes =>
  ({ none: compression.None, gzip: compression.GZIP, zstd: compression.ZSTD })[name]

/** Every record says its partition. */
export const explicitPartition =
  () =>
  ({ message }: { message: { partition?: number } }): number =>
    message.partition ?? 0

// Our encoder takes headers as a list; kafkajs only hands them through.
export const byTopic = (records: readonly Outgoing[]): TopicMessages[] => {
  const topics = new Map<string, Outgoing[]>()
  for (const record of records) {
    const same = topics.get(record.topic)
    if (same) same.push(record)
    else topics.set(record.topic, [record])
  }
  return [...topics].map(([topic, messages]) => ({ topic, messages: messages as unknown as TopicMessages['messages'] }))
}
