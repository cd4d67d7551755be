// The smallest program that delivers: it copies one topic to another, at least once or in transactions, to try the simulated broker with.
import type { Kafka, KafkaConfig, Producer } from 'kafkajs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Process } from '../world.js'

export type ToyOptions = {
  readonly connect: (overrides?: Partial<KafkaConfig>) => Kafka
  readonly isTransactional: boolean
  readonly groupId: string
  readonly log: (text: string) => void
}

export const runToy = async (
  process: Process,
  { connect, isTransactional, groupId, log }: ToyOptions,
): Promise<void> => {
  const kafka = connect()
  for (;;) {
    const consumer = kafka.consumer({
      groupId,
      sessionTimeout: 6_000,
      rebalanceTimeout: 10_000,
      heartbeatInterval: 600,
      maxWaitTimeInMs: 250,
      retry: {
        restartOnFailure: () => Promise.resolve(false),
        retries: 12,
        initialRetryTime: 200,
        maxRetryTime: 5_000,
      },
    })
    const producers = new Map<number, Producer>()
    const producerOf = async (partition: number): Promise<Producer> => {
      const known = producers.get(partition)
      if (known) return known
      const producer = connect().producer(
        isTransactional
          ? {
              idempotent: true,
              transactionalId: `${groupId}-in-${partition}`,
              maxInFlightRequests: 1,
              transactionTimeout: 30_000,
              retry: { initialRetryTime: 5, factor: 0.1, multiplier: 1.3, maxRetryTime: 2_000, retries: 20 },
            }
          : {
              idempotent: true,
              maxInFlightRequests: 1,
              retry: { initialRetryTime: 100, maxRetryTime: 2_000, retries: 6 },
            },
      )
      await producer.connect()
      producers.set(partition, producer)
      return producer
    }
    let crash = (): void => undefined
    const crashed = new Promise<void>((resolve) => (crash = resolve))
    consumer.on(consumer.events.CRASH, ({ payload }) => {
      log(`${process.label}: ${payload.error.message}`)
      crash()
    })
    consumer.on(consumer.events.GROUP_JOIN, () => producers.clear())
    try {
      await consumer.connect()
      await consumer.subscribe({ topics: ['in'], fromBeginning: true })
      await consumer.run({
        autoCommit: !isTransactional,
        eachBatchAutoResolve: false,
        partitionsConsumedConcurrently: 2,
        eachBatch: async (payload) => {
          if (!payload.isRunning() || payload.isStale()) return
          const { batch } = payload
          const { partition } = batch
          const messages = batch.messages.map(({ key, value }) => ({
            key,
            value,
            timestamp: String(Date.now()),
            partition,
            headers: [] as unknown as Record<string, Buffer>,
          }))
          try {
            const producer = await producerOf(partition)
            if (!isTransactional) await producer.send({ topic: 'out', messages })
            else {
              const transaction = await producer.transaction()
              try {
                const offset = String(Number(batch.lastOffset()) + 1)
                await transaction.send({ topic: 'out', messages })
                await transaction.sendOffsets({
                  consumerGroupId: groupId,
                  topics: [{ topic: 'in', partitions: [{ partition, offset }] }],
                })
                await transaction.commit()
              } catch (error) {
                await transaction.abort().catch(() => undefined) // the first failure counts
                throw error
              }
            }
          } catch (error) {
            producers.delete(partition)
            throw error
          }
          await sleep(Math.random() * 30)
          payload.resolveOffset(batch.lastOffset())
          await payload.heartbeat()
        },
      })
    } catch (error) {
      log(`${process.label}: ${error instanceof Error ? error.message : String(error)}`)
      crash()
    }
    await crashed
    await consumer.disconnect().catch(() => undefined) // it may be gone already
    await sleep(500)
  }
}
