// The idempotent sender: a producer for one partition's batch at a time, replaced after every send that failed.
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
  /** Tries until it is acknowledged or refused, or the sender is closed, or nobody wants it any more. */
  readonly send: (records: readonly Outgoing[], isWanted?: () => boolean) => ReturnType<Send>
  /** Milliseconds that count against the limit of a send: without attempts that failed because no broker was there. */
  readonly clock: () => number
  readonly close: () => Promise<void>
}

/**
 * After a failed send nobody knows whether the brokers have stored its records, and the next ones would have the same sequence numbers: a broker
 * could take them for a duplicate and never write them. So a producer is not used again after a failure, and not shared either:
 * a send of another partition could be pending in it.
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

/** If a broker refuses a time that is so recent by our clock, that is ahead of the broker's. */
const recentMs = 3_600_000

/** Retention then counts from when the broker stores it. */
const withoutTime = (record: Outgoing): Outgoing => ({
  ...record,
  timestamp: '-1',
  headers: record.headers.some(([name]) => name === timeHeader)
    ? record.headers
    : [...record.headers, [timeHeader, Buffer.from(record.timestamp)]],
})
const timeHeader = 'threatweave-timestamp'

/** Sends within a transaction; whatever fails is thrown, for then the transaction has failed. */
export const sendTransaction =
  (transaction: Transaction, codec: Codec, surroundings: Surroundings) =>
  (records: readonly Outgoing[]): Promise<'acknowledged'> =>
    sendTo(transaction, codec, records, surroundings)

const codecOf = (name: Codec): CompressionTypes =>
  ({ none: compression.None, gzip: compression.GZIP, zstd: compression.ZSTD })[name]

/** Every record says its partition. */
const explicitPartition =
  () =>
  ({ message }: { message: { partition?: number } }): number =>
    message.partition ?? 0

// Our encoder takes headers as a list; kafkajs only hands them through.
const byTopic = (records: readonly Outgoing[]): TopicMessages[] => {
  const topics = new Map<string, Outgoing[]>()
  for (const record of records) {
    const same = topics.get(record.topic)
    if (same) same.push(record)
    else topics.set(record.topic, [record])
  }
  return [...topics].map(([topic, messages]) => ({ topic, messages: messages as unknown as TopicMessages['messages'] }))
}

// The producer whose transactions belong to one partition of one group: a new one fences the last, and ends what it left open.

/** For some milliseconds the next transaction is refused because the last one is still ending: try again at once, not after 300 ms. */
const retry = { initialRetryTime: 5, factor: 0.1, multiplier: 1.3, maxRetryTime: 2_000, retries: 20 }
const transactionTimeout = 30_000

type ProducerOwner = {
  readonly prefix: string
  readonly groupId: string
  readonly topic: string
  readonly partition: number
}

/**
 * The names as they are, and after a hyphen in one of them a hash of both: group `soc` with topic `fw-x` would have the id of group `soc-fw` with
 * topic `x`, and each would fence the other for ever.
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
    // Bound to group and partition: only this fences a former owner, for kafkajs sends no generation.
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
  /** Begins the transaction after the last one. */
  readonly next: () => Promise<Transaction>
}

/** Fences the former owner, of an older version too, and ends what it left open: from then on what is committed is final. */
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

/** It is not used again, however its disconnection ends. */
const discard = (producer: Producer): void => {
  producer.disconnect().catch(() => undefined)
}
