// The producer whose transactions belong to one partition of one group: a new one fences the last, and ends what it left open.
import type { Kafka, Producer } from 'kafkajs'
import { explicitPartition } from './idempotent-sender.js'

/** For some milliseconds the next transaction is refused because the last one is still ending: try again at once, not after 300 ms. */
const retry = { initialRetryTime: 5, factor: 0.1, multiplier: 1.3, maxRetryTime: 2_000, retries: 20 }
const transactionTimeout = 30_000

export type ProducerOwner = {
  readonly prefix: string
  readonly groupId: string
  readonly topic: string
  readonly partition: number
}

export const transactionalProducer = (kafka: Kafka, { prefix, groupId, topic, partition }: ProducerOwner): Producer =>
  kafka.producer({
    // Bound to group and partition: only this fences a former owner, for kafkajs sends no generation.
    transactionalId: `${prefix}-${groupId}-${topic}-${partition}`,
    transactionTimeout,
    idempotent: true,
    maxInFlightRequests: 1,
    allowAutoTopicCreation: false,
    createPartitioner: explicitPartition,
    retry,
  })
