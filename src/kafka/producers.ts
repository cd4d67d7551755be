// Producers: an idempotent sender, replaced after every failed send, and the transactional producer of a partition.
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { CompressionTypes, Kafka, Producer, TopicMessages, Transaction } from 'kafkajs'
import { failureOf, FatalKafkaError } from './failure.js'
import { CompressionTypes as compression } from './patched-kafkajs/patched-kafkajs.js'
import type { Acknowledged } from './patched-kafkajs/send-messages.js'
import type { KafkaSettings } from './settings.js'
import type { Outgoing, Send } from './records.js'
import { ignoreTelemetry, type Emit } from '../telemetry/event.js'

type Surroundings = { readonly emit: Emit; readonly now: () => number }
type Codec = KafkaSettings['output']['compression']

export type IdempotentSender = {
  /** Retries until the records are acknowledged or refused, the sender is closed, or `isWanted` returns false. */
  readonly send: (records: readonly Outgoing[], isWanted?: () => boolean) => ReturnType<Send>
  /** Milliseconds that count against the limit of a send; attempts that failed in an outage are excluded. */
  readonly clock: () => number
  readonly close: () => Promise<void>
}

/**
 * After a failed send it is unknown whether the brokers stored its records. The next records would reuse the sequence numbers, so a
 * broker could take them for duplicates and drop them. A producer is therefore not used again after a failure. It is not shared either,
 * because a send of another partition could be pending in it.
 */
export const openIdempotentSender = (
  kafka: Kafka,
  codec: Codec,
  replaced: (records: readonly Outgoing[], cause: string) => void,
  reachableMs: () => number = Date.now,
  surroundings: Surroundings = { emit: ignoreTelemetry, now: Date.now },
): IdempotentSender => {
  let excusedMs = 0
  let producer: Producer | undefined
  let closed = false
  const refuseClosed = (): void => {
    if (closed) throw new Error('closed')
  }
  const connected = async (): Promise<Producer> => {
    if (producer) return producer
    refuseClosed()
    const fresh = kafka.producer({
      idempotent: true,
      maxInFlightRequests: 1,
      allowAutoTopicCreation: false,
      createPartitioner: explicitPartition,
      retry: { initialRetryTime: 100, maxRetryTime: 2_000, retries: 6 },
    })
    try {
      await fresh.connect()
      refuseClosed()
    } catch (error) {
      discard(fresh)
      throw error
    }
    producer = fresh
    return fresh
  }
  const retire = (): void => {
    const old = producer
    producer = undefined
    if (old) discard(old)
  }
  return {
    send: async (records, isWanted = always) => {
      let left = records
      for (let pauseMs = 100; ; pauseMs = Math.min(pauseMs * 2, 2_000)) {
        const began = reachableMs()
        try {
          return await sendTo(await connected(), codec, left, surroundings)
        } catch (error) {
          const failure = failureOf(error)
          retire()
          left = withoutAcknowledged(left, error)
          if (failure.kind === 'refused') return { refused: failure.name, left }
          replaced(left, `${failure.name}: ${failure.message}`)
          if (failure.kind === 'fatal') throw new FatalKafkaError(`Kafka refuses our output: ${failure.message}`, true)
          if (closed || !isWanted()) throw new Error('closed while sending')
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

const always = (): boolean => true

const acknowledgedIn = (error: unknown): Acknowledged['acknowledged'] =>
  (error as Partial<Acknowledged>).acknowledged ?? []

const withoutAcknowledged = (records: readonly Outgoing[], error: unknown): readonly Outgoing[] => {
  const acknowledged = acknowledgedIn(error)
  return records.filter(
    (record) => !acknowledged.some(({ topic, partition }) => topic === record.topic && partition === record.partition),
  )
}

const sendTo = async (
  target: Pick<Transaction, 'sendBatch'>,
  codec: Codec,
  records: readonly Outgoing[],
  { emit, now }: Surroundings,
): Promise<'acknowledged'> => {
  const send = (some: readonly Outgoing[]): Promise<unknown> =>
    target.sendBatch({ acks: -1, compression: codecOf(codec), topicMessages: byTopic(some) })
  try {
    await send(records)
  } catch (error) {
    const left = withoutAcknowledged(records, error)
    const recentFrom = now() - recentMs
    const areRecent = left.every(({ timestamp }) => Number(timestamp) >= recentFrom)
    if (failureOf(error).name !== 'INVALID_TIMESTAMP' || !areRecent) throw error
    await send(left.map(withoutTime)).catch((again: unknown) => {
      throw Object.assign(again as Error, { acknowledged: [...acknowledgedIn(error), ...acknowledgedIn(again)] })
    })
    emit({ event: 'written_without_time', topic: left[0]?.topic ?? '', records: left.length })
  }
  return 'acknowledged'
}

/** A broker that refuses such a recent time has a clock behind ours. */
const recentMs = 3_600_000

/** Retention then counts from the time at which the broker stores the record. */
const withoutTime = (record: Outgoing): Outgoing => ({
  ...record,
  timestamp: '-1',
  headers: record.headers.some(([name]) => name === timeHeader)
    ? record.headers
    : [...record.headers, [timeHeader, Buffer.from(record.timestamp)]],
})
const timeHeader = 'threatweave-timestamp'

/** Sends within a transaction. Every failure is thrown, because it fails the transaction. */
export const sendTransaction =
  (transaction: Transaction, codec: Codec, surroundings: Surroundings) =>
  (records: readonly Outgoing[]): Promise<'acknowledged'> =>
    sendTo(transaction, codec, records, surroundings)

const codecOf = (name: Codec): CompressionTypes =>
  ({ none: compression.None, gzip: compression.GZIP, zstd: compression.ZSTD })[name]

/** Every record names its partition. */
const explicitPartition =
  () =>
  ({ message }: { message: { partition?: number } }): number =>
    message.partition ?? 0

// Our encoder takes headers as a list; kafkajs only passes them through.
const byTopic = (records: readonly Outgoing[]): TopicMessages[] => {
  const topics = new Map<string, Outgoing[]>()
  for (const record of records) {
    const same = topics.get(record.topic)
    if (same) same.push(record)
    else topics.set(record.topic, [record])
  }
  return [...topics].map(([topic, messages]) => ({ topic, messages: messages as unknown as TopicMessages['messages'] }))
}

// The transactional producer of one partition in one group. A new one fences its predecessor and aborts its open transaction.

/** The next transaction is refused for some milliseconds while the last one completes, so retry quickly instead of after 300 ms. */
const retry = { initialRetryTime: 5, factor: 0.1, multiplier: 1.3, maxRetryTime: 2_000, retries: 20 }
const transactionTimeout = 30_000

type ProducerOwner = {
  readonly prefix: string
  readonly groupId: string
  readonly topic: string
  readonly partition: number
}

/**
 * Appends a hash if a name contains a hyphen. Otherwise group `soc` with topic `fw-x` would share an id with group `soc-fw` and topic
 * `x`, and each would fence the other forever.
 */
const transactionalIdOf = ({ prefix, groupId, topic, partition }: ProducerOwner): string => {
  const id = plainIdOf({ prefix, groupId, topic, partition })
  if (!groupId.includes('-') && !topic.includes('-')) return id
  return `${id}-${createHash('sha256')
    .update(JSON.stringify([groupId, topic]))
    .digest('hex')
    .slice(0, 12)}`
}

const plainIdOf = ({ prefix, groupId, topic, partition }: ProducerOwner): string =>
  `${prefix}-${groupId}-${topic}-${partition}`

const producerOf = (kafka: Kafka, transactionalId: string): Producer =>
  kafka.producer({
    // The id contains group and partition. Only this fences a former owner, because kafkajs sends no generation.
    transactionalId,
    transactionTimeout,
    idempotent: true,
    maxInFlightRequests: 1,
    allowAutoTopicCreation: false,
    createPartitioner: explicitPartition,
    retry,
  })

type Claimed = {
  readonly producer: Producer
  readonly transaction: Transaction
  /** Begins the next transaction. */
  readonly next: () => Promise<Transaction>
}

/** Fences the former owner, even one of an older version, and aborts its open transaction. From then on the committed offsets are final. */
export const claimTransactions = async (kafka: Kafka, owner: ProducerOwner): Promise<Claimed> => {
  const id = transactionalIdOf(owner)
  const olderId = plainIdOf(owner)
  const claimed = await begin(kafka, id)
  try {
    if (olderId !== id) discard((await begin(kafka, olderId)).producer)
    return claimed
  } catch (error) {
    discard(claimed.producer)
    throw error
  }
}

const begin = async (kafka: Kafka, id: string): Promise<Claimed> => {
  const producer = producerOf(kafka, id)
  try {
    await producer.connect()
    const next = (): Promise<Transaction> => producer.transaction()
    return { producer, transaction: await next(), next }
  } catch (error) {
    discard(producer)
    throw error
  }
}

/** The producer is not used again, so errors of its disconnect do not matter. */
const discard = (producer: Producer): void => {
  producer.disconnect().catch(() => undefined)
}
