// The consumer: joins the group, hands over fetched batches one a partition at a time, and says when it cannot go on.
import type { Consumer, EachBatchPayload, Kafka } from 'kafkajs'
import type { Tell } from '../telemetry/event.js'
import type { Incoming } from './compose.js'
import { failureOf, Hopeless } from './failure.js'
import type { HealthRecord } from './health.js'
import type { SameTopic } from './same-topic.js'
import type { KafkaSettings } from './settings.js'
import type { WireRecord } from './wire/record.js'

export type Fetched = {
  readonly topic: string
  readonly partition: number
  /** `topic/partition` */
  readonly name: string
  readonly records: readonly Incoming[]
  /** How many records are still to read after these. */
  readonly lag: number
  /** Counts the joins of this process; another number means that the partition may have had another owner. */
  readonly generation: number
  /** False as soon as the batch should be left where it is: stopping, lost to another member, or sought elsewhere. */
  readonly goesOn: () => boolean
  /** Everything up to this record is delivered. */
  readonly resolve: (last: string) => void
  readonly seek: (offset: string) => void
  /** Resolves when a heartbeat that was sent after the call was answered in this generation; throws if we are no member. */
  readonly proveMembership: () => Promise<void>
}

export type Source = { readonly stop: () => Promise<void> }

export type SourceOptions = {
  readonly kafka: Kafka
  readonly settings: KafkaSettings
  readonly topics: readonly string[]
  readonly handle: (fetched: Fetched) => Promise<void>
  readonly same: SameTopic
  readonly health: HealthRecord
  readonly tell: Tell
  readonly fail: (sentence: string, isRefused?: boolean) => void
}

/** Restarts of a consumer that read nothing in between. */
const maxRestarts = 3

export const startSource = async (options: SourceOptions): Promise<Source> => {
  const { kafka, settings, topics, handle, same, health, tell, fail } = options
  const exactly = settings.delivery === 'exactly-once'
  const { sessionTimeoutMs, concurrentPartitions, refreshMs } = settings.limits
  const heartbeatMs = Math.max(200, Math.min(1_000, Math.floor(sessionTimeoutMs / 10)))
  const consumer = kafka.consumer({
    groupId: settings.groupId,
    sessionTimeout: sessionTimeoutMs,
    rebalanceTimeout: Math.max(sessionTimeoutMs, 60_000),
    heartbeatInterval: heartbeatMs,
    maxBytesPerPartition: exactly ? 786_432 : 524_288,
    maxBytes: 10_485_760,
    minBytes: 1,
    maxWaitTimeInMs: 250,
    metadataMaxAge: refreshMs,
    allowAutoTopicCreation: false,
    retry: { initialRetryTime: 200, maxRetryTime: 5_000, retries: 12 },
  })
  let generation = 0
  let heartbeats = 0
  let lastDelivered = -1
  let fruitless = 0
  let assignment: Readonly<Record<string, readonly number[]>> = {}
  consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
    generation++
    same.joined(topics)
    assignment = payload.memberAssignment
    const assigned = Object.entries(payload.memberAssignment).flatMap(([topic, partitions]) =>
      partitions.map((partition) => `${topic}/${partition}`),
    )
    health.joined(assigned)
    tell({ event: 'group_joined', partitions: assigned.length, tookMs: payload.duration })
  })
  consumer.on(consumer.events.HEARTBEAT, () => {
    heartbeats++
  })
  consumer.on(consumer.events.CRASH, ({ payload }) => {
    const { kind, name, message } = failureOf(payload.error)
    const cause = `${name}: ${message}`
    if (!payload.restart) {
      fail(`the consumer cannot go on: ${cause}`, kind === 'hopeless')
      return
    }
    const { delivered } = health.read()
    fruitless = delivered === lastDelivered ? fruitless + 1 : 1
    lastDelivered = delivered
    health.restarted()
    tell({ event: 'consumer_restarted', cause, times: fruitless })
    if (fruitless > maxRestarts) fail(`the consumer crashed ${fruitless} times without an offset moving: ${cause}`)
  })

  const running = new Map<string, Promise<void>>()
  /** After a rejoin a batch of the former generation may still be in the works: the partition's next one waits for it. */
  const eachBatch = async (payload: EachBatchPayload): Promise<void> => {
    const name = `${payload.batch.topic}/${payload.batch.partition}`
    await running.get(name)?.catch(() => undefined)
    const work = oneBatch(payload)
    running.set(name, work)
    try {
      await work
    } finally {
      if (running.get(name) === work) running.delete(name)
    }
  }

  const oneBatch = async (payload: EachBatchPayload): Promise<void> => {
    const { batch } = payload
    const { topic, partition } = batch
    const began = generation
    let lost: unknown
    const beat = setInterval(() => {
      payload.heartbeat().catch((error: unknown) => {
        lost ??= error
      })
    }, heartbeatMs)
    try {
      if (await same.replaced(topic))
        for (const each of assignment[topic] ?? []) consumer.seek({ topic, partition: each, offset: '0' })
      if (payload.isStale()) return
      await handle({
        topic,
        partition,
        name: `${topic}/${partition}`,
        records: (batch.messages as unknown as readonly WireRecord[]).map((record) =>
          incoming(record, topic, partition),
        ),
        lag: Number(batch.offsetLag()),
        generation: began,
        goesOn: () => payload.isRunning() && lost === undefined && generation === began && !payload.isStale(),
        resolve: (last) => {
          if (generation === began) payload.resolveOffset(last)
        },
        seek: (offset) => consumer.seek({ topic, partition, offset }),
        proveMembership: async () => {
          const before = heartbeats
          while (heartbeats === before) {
            if (lost !== undefined) throw lost as Error
            if (!payload.isRunning()) throw new Error('stopped')
            await payload.heartbeat().catch((error: unknown) => {
              lost ??= error
            })
            if (heartbeats === before) await pause(50)
          }
        },
      })
    } catch (error) {
      if (error instanceof Hopeless) fail(error.message, error.isRefused)
      throw error
    } finally {
      clearInterval(beat)
    }
    if (lost !== undefined) throw lost as Error
  }

  try {
    await consumer.connect()
    await consumer.subscribe({ topics: [...topics], fromBeginning: true })
    await consumer.run({
      autoCommit: !exactly,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: concurrentPartitions,
      eachBatch,
    })
  } catch (error) {
    await close(consumer)
    throw error
  }
  return { stop: () => close(consumer) }
}

const close = async (consumer: Consumer): Promise<void> => {
  await consumer.stop()
  await consumer.disconnect()
}

/** Written out: a spread of every record costs more than all else here. */
const incoming = (record: WireRecord, topic: string, partition: number): Incoming => ({
  topic,
  partition,
  offset: record.offset,
  timestamp: record.timestamp,
  key: record.key,
  value: record.value,
  headers: record.headers,
})

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
