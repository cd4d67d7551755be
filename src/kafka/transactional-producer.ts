// The producer whose transactions belong to one partition of one group: a new one shuts out the last, and ends what it left open.
import type { Kafka, Producer } from 'kafkajs'
import { explicitPartition } from './idempotent-sender.js'

/** The next transaction of a producer meets the end of its last one for some milliseconds: ask again at once, not after 300 ms. */
const retry = { initialRetryTime: 5, factor: 0.1, multiplier: 1.3, maxRetryTime: 2_000, retries: 20 }
const transactionTimeout = 30_000

export type Owner = {
  readonly prefix: string
  readonly groupId: string
  readonly topic: string
  readonly partition: number
}

export const transactionalProducer = (kafka: Kafka, { prefix, groupId, topic, partition }: Owner): Producer =>
  kafka.producer({
    // Bound to group and partition: the only thing that shuts out a former owner, for kafkajs sends no generation.
    transactionalId: `${prefix}-${groupId}-${topic}-${partition}`,
    transactionTimeout,
    idempotent: true,
    maxInFlightRequests: 1,
    allowAutoTopicCreation: false,
    createPartitioner: explicitPartition,
    retry,
  })
