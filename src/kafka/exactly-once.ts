// Exactly once: a fetched batch's output and its offsets are one transaction of the partition's own producer.
import type { Admin, Kafka, Producer, Transaction } from 'kafkajs'
import type { Delivery, DeliveryOptions } from './at-least-once.js'
import type { Outgoing, Rung } from './compose.js'
import { startChunks, takeOn, type Chunk } from './chunks.js'
import { below, deliverBeside, split, type Item } from './deliver.js'
import { failureOf, Hopeless } from './failure.js'
import { byTopic, codecOf } from './idempotent-sender.js'
import type { KafkaSettings } from './settings.js'
import type { Fetched } from './fetched.js'
import { transactionalProducer } from './transactional-producer.js'
import { within } from './within.js'

type Claim = { readonly generation: number; readonly producer: Producer; transaction: Transaction }

export type Refusals = {
  /** Records the broker would not take, and the rung to start them from. */
  readonly refused: Map<string, { readonly rung: Rung; readonly reason: string }>
  /** Up to this offset records are sent one by one, to find the one that is refused. */
  carefulUntil: number
}

type Partition = Refusals & { claim?: Claim | undefined }

export const exactlyOnce = (options: DeliveryOptions & { readonly admin: Admin }): Delivery => {
  const { connect, admin, settings, pipeline, waitOf, how, health, brokers, emit } = options
  const { limits } = settings
  // Another client than the consumer's: within one, offsets show as committed before their transaction is.
  const kafka = connect()
  const partitions = new Map<string, Partition>()

  /**
   * The one way to a partition, after every join and after anything that went wrong: whatever was in the works is dropped, a new
   * producer shuts out the last one and ends its transaction, and only then is the committed offset to be believed. It is
   * asked before and after whether we are a member at all: a process that slept past its session must not shut out the owner.
   */
  const claim = async (fetched: Fetched, partition: Partition): Promise<void> => {
    retire(partition)
    await fetched.proveMembership()
    const producer = newProducer(kafka, settings, fetched)
    try {
      await producer.connect()
      const transaction = await producer.transaction()
      await fetched.proveMembership()
      const offset = await committedOffset(admin, settings.groupId, fetched)
      fetched.seek(offset)
      partition.claim = { generation: fetched.generation, producer, transaction }
      emit({ event: 'partition_claimed', topic: fetched.topic, partition: fetched.partition, offset })
    } catch (error) {
      leave(producer)
      throw error
    }
  }

  const transact = async (
    fetched: Fetched,
    chunks: readonly Chunk[],
    partition: Partition,
    owned: Claim,
  ): Promise<boolean> => {
    const { topic, name } = fetched
    let last: string | undefined
    let count = 0
    for (const chunk of chunks) {
      if (!fetched.goesOn()) break
      for (const part of split(chunk.items, how.max)) await send(owned.transaction, part, partition)
      if (how.beside)
        await deliverBeside(how.beside(chunk.events), (records) => sendRecords(owned.transaction, records), how)
      last = chunk.last
      count += chunk.records.length
    }
    if (last === undefined) return false
    await owned.transaction.sendOffsets({
      consumerGroupId: settings.groupId,
      topics: [{ topic, partitions: [{ partition: fetched.partition, offset: String(Number(last) + 1) }] }],
    })
    await owned.transaction.commit()
    owned.transaction = await owned.producer.transaction()
    for (const offset of partition.refused.keys()) if (Number(offset) <= Number(last)) partition.refused.delete(offset)
    fetched.resolve(last)
    health.moved(name, count, Number(last) + 1, fetched.lag)
    const oldestMs = how.now() - Number(chunks[0]?.records[0]?.timestamp)
    emit({ event: 'chunk_delivered', topic, partition: fetched.partition, events: count, oldestMs })
    return fetched.goesOn()
  }

  const sendRecords = async (transaction: Transaction, records: readonly Outgoing[]): Promise<'acknowledged'> => {
    await transaction.sendBatch({
      acks: -1,
      compression: codecOf(settings.output.compression),
      topicMessages: byTopic(records),
    })
    return 'acknowledged'
  }

  const send = async (transaction: Transaction, part: readonly Item[], partition: Partition): Promise<void> => {
    const careful = part.some(({ incoming }) => Number(incoming.offset) <= partition.carefulUntil)
    for (const items of careful ? part.map((item) => [item]) : [part]) {
      try {
        await sendRecords(
          transaction,
          items.map(({ composed }) => composed.record),
        )
      } catch (error) {
        const failure = failureOf(error)
        if (failure.kind === 'refused') remember(items, failure.name.toLowerCase(), partition)
        throw error
      }
    }
  }

  return {
    handle: async (fetched) => {
      const { topic, name } = fetched
      const partition: Partition = partitions.get(name) ?? { refused: new Map(), carefulUntil: -1 }
      partitions.set(name, partition)
      const first = fetched.records[0]?.offset ?? ''
      const limited = async <Result>(work: () => Promise<Result>): Promise<Result> => {
        health.chunkBegan(name, brokers.reachableMs)
        return within(limits.chunkDeadlineMs, `${name} from offset ${first} on`, work, brokers.reachableMs)
      }
      try {
        const owned = partition.claim
        if (owned?.generation !== fetched.generation) {
          await limited(() => claim(fetched, partition))
          return
        }
        const wait = waitOf(fetched)
        const max = { count: limits.chunkEvents, bytes: limits.chunkBytes }
        for (const records of takeOn(fetched.records)) {
          const chunks = await startChunks(records, { pipeline, wait, how, max, refused: partition.refused })
          const areReady = async (): Promise<boolean> =>
            (await Promise.all(chunks.map(async ({ ready }) => ready))).every((isReady) => isReady)
          // Nobody but the provider says how long that takes, so it has no limit.
          if (wait.kind === 'complete' && !(await areReady())) return
          const isThrough = await limited(async () => {
            // All of it is known before the transaction's first send: it must not time out while a lookup is waited for.
            if (!(await areReady())) return false
            return transact(fetched, chunks, partition, owned)
          })
          health.chunkEnded(name)
          if (!isThrough) return
        }
      } catch (error) {
        retire(partition)
        if (error instanceof Hopeless) throw error
        const failure = failureOf(error)
        if (failure.kind === 'hopeless') throw new Hopeless(`Kafka refuses our output: ${failure.message}`, true)
        emit({
          event: 'producer_replaced',
          topic,
          partition: fetched.partition,
          cause: `${failure.name}: ${failure.message}`,
        })
        await pause(200)
      } finally {
        health.chunkEnded(name)
      }
    },
    close: async () => {
      await Promise.allSettled([...partitions.values()].map(async ({ claim: owned }) => owned?.producer.disconnect()))
    },
  }
}

const newProducer = (
  kafka: Kafka,
  { transactionalIdPrefix, groupId }: KafkaSettings,
  { topic, partition }: Fetched,
): Producer => transactionalProducer(kafka, { prefix: transactionalIdPrefix, groupId, topic, partition })

const committedOffset = async (admin: Admin, groupId: string, { topic, partition }: Fetched): Promise<string> => {
  const [committed] = await admin.fetchOffsets({ groupId, topics: [topic] })
  const offset = committed?.partitions.find((entry) => entry.partition === partition)?.offset ?? '-1'
  if (Number(offset) >= 0) return offset
  const ends = await admin.fetchTopicOffsets(topic)
  return ends.find((entry) => entry.partition === partition)?.low ?? '0'
}

export const remember = (items: readonly Item[], reason: string, partition: Refusals): void => {
  const [only] = items
  if (items.length === 1 && only) {
    const rung = below(only.composed.rung, reason)
    if (rung === undefined) throw new Hopeless(`even a dead letter that only points was refused: ${reason}`)
    partition.refused.set(only.incoming.offset, { rung, reason })
  } else partition.carefulUntil = Number(items.at(-1)?.incoming.offset ?? -1)
}

const retire = (partition: Partition): void => {
  const old = partition.claim
  partition.claim = undefined
  if (old) leave(old.producer)
}

/** It is not used again, however its disconnection ends. */
const leave = (producer: Producer): void => {
  producer.disconnect().catch(() => undefined)
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
