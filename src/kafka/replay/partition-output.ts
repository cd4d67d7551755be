// Where one partition's output goes, with how far the replay has come: acknowledged first, or both in one transaction.
import type { Kafka, Producer, Transaction } from 'kafkajs'
import type { Outgoing } from '../compose.js'
import { deliver, deliverBeside, split, type Again, type Deliver, type Item } from '../deliver.js'
import { remember, type Refusals } from '../exactly-once.js'
import { failureOf, Hopeless } from '../failure.js'
import { byTopic, codecOf, openLane } from '../idempotent-sender.js'
import type { KafkaSettings } from '../settings.js'
import { transactionalProducer } from '../transactional-producer.js'
import { splitByCountAndBytes } from '../split-by-count-and-bytes.js'
import { recordBytes } from '../wire/encode-batch.js'
import type { Position, Reader } from './reader.js'

export type PartitionOutput = {
  /** Shuts out whoever wrote before and says how far that came. */
  readonly claim: () => Promise<Position | undefined>
  /** Throws when it did not get through; then it has to be claimed anew. */
  readonly write: (
    items: readonly Item[],
    beside: readonly Outgoing[],
    reached: Position,
    again: Again,
  ) => Promise<void>
  readonly refusals: Refusals
  readonly close: () => Promise<void>
}

export type OutputOptions = {
  readonly kafka: Kafka
  readonly reader: Reader
  readonly settings: KafkaSettings
  readonly how: Deliver
  readonly groupId: string
  readonly topic: string
  readonly partition: number
  readonly now: () => number
}

const commitEveryMs = 1_000

/** What was written since the last commit is written again after a kill. */
export const acknowledgedOutput = (options: OutputOptions): PartitionOutput => {
  const { kafka, reader, settings, how, groupId, topic, partition, now } = options
  const lane = openLane(kafka, settings.output.compression, (_records, cause) =>
    how.emit({ event: 'producer_replaced', topic, partition, cause }),
  )
  let reached: Position | undefined
  let committedAt = now()
  const commit = async (): Promise<void> => {
    if (reached) await reader.commit(groupId, topic, [reached])
    reached = undefined
    committedAt = now()
  }
  return {
    refusals: { refused: new Map(), carefulUntil: -1 },
    claim: async () => (await reader.committed(groupId, topic)).find((one) => one.partition === partition),
    write: async (items, beside, position, again) => {
      await deliver(items, lane.send, how, again)
      await deliverBeside(beside, lane.send, how)
      reached = position
      if (now() - committedAt >= commitEveryMs) await commit()
    },
    close: async () => {
      await commit()
      await lane.close()
    },
  }
}

/** Another writer of the same replay took over, or our transaction was given up by the broker. */
const shutOut = /^(?:INVALID_PRODUCER_EPOCH|PRODUCER_FENCED|INVALID_PRODUCER_ID_MAPPING)$/

export const transactionalOutput = (options: OutputOptions): PartitionOutput => {
  const { kafka, reader, settings, how, groupId, topic, partition } = options
  const refusals: Refusals = { refused: new Map(), carefulUntil: -1 }
  let producer: Producer | undefined
  let transaction: Transaction | undefined
  const leave = (): void => {
    const old = producer
    producer = undefined
    transaction = undefined
    old?.disconnect().catch(() => undefined) // it is not used again, however that ends
  }
  const send = async (to: Transaction, records: readonly Outgoing[]): Promise<void> => {
    await to.sendBatch({
      acks: -1,
      compression: codecOf(settings.output.compression),
      topicMessages: byTopic(records),
    })
  }
  const attempt = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      leave()
      const { name, kind, message } = failureOf(error)
      if (shutOut.test(name) || message.endsWith('error code 90'))
        throw new Hopeless(`${topic}/${partition}: another process replays with the same --id`)
      if (kind === 'hopeless') throw new Hopeless(`Kafka refuses our output: ${message}`)
      throw error
    }
  }
  return {
    refusals,
    claim: () =>
      attempt(async () => {
        leave()
        const prefix = settings.transactionalIdPrefix
        producer = transactionalProducer(kafka, { prefix, groupId, topic, partition })
        await producer.connect()
        // Only after the last writer's transaction is ended is the committed offset to be believed.
        transaction = await producer.transaction()
        return (await reader.committed(groupId, topic)).find((one) => one.partition === partition)
      }),
    write: (items, beside, reached) =>
      attempt(async () => {
        const current = transaction
        if (!current || !producer) throw new Error('not claimed')
        for (const part of split(items, how.max)) {
          const careful = part.some(({ incoming }) => Number(incoming.offset) <= refusals.carefulUntil)
          for (const some of careful ? part.map((item) => [item]) : [part])
            try {
              await send(
                current,
                some.map(({ composed }) => composed.record),
              )
            } catch (error) {
              const { kind, name } = failureOf(error)
              if (kind === 'refused') remember(some, name.toLowerCase(), refusals)
              throw error
            }
        }
        for (const part of splitByCountAndBytes(beside, recordBytes, how.max)) await send(current, part)
        await current.sendOffsets({
          consumerGroupId: groupId,
          topics: [{ topic, partitions: [{ ...reached, offset: String(reached.offset) }] }],
        })
        await current.commit()
        transaction = undefined
        transaction = await producer.transaction()
      }),
    close: async () => {
      await producer?.disconnect()
    },
  }
}
