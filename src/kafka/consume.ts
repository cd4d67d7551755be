// The life of one consumer: it joins the group and hands over fetched batches, one per partition at a time, until it crashes or is stopped.
import type { Consumer, EachBatchPayload, Kafka } from 'kafkajs'
import type { Emit } from '../telemetry/event.js'
import type { BrokerWatch } from './broker-watch.js'
import type { Incoming } from './compose.js'
import { Hopeless } from './failure.js'
import type { Fetched } from './fetched.js'
import type { HealthRecord } from './health.js'
import { leaveGroup } from './leave-group.js'
import type { SameTopic } from './same-topic.js'
import type { KafkaSettings } from './settings.js'
import type { WireRecord } from './wire/record.js'

export type ConsumeOptions = {
  readonly kafka: Kafka
  readonly settings: KafkaSettings
  readonly topics: readonly string[]
  readonly handle: (fetched: Fetched) => Promise<void>
  readonly same: SameTopic
  readonly health: HealthRecord
  readonly brokers: BrokerWatch
  readonly emit: Emit
  readonly fail: (sentence: string, isRefused?: boolean) => void
  /** What outlives a consumer. */
  readonly shared: Shared
}

export type Shared = {
  generation: number
  /** Of the last consumer that joined. */
  memberId?: string | undefined
  /** By `topic/partition`: the batch that is in progress. */
  readonly running: Map<string, Promise<void>>
}

export type Consuming = {
  /** Resolves with the error that ended it; never after a stop. */
  readonly crashed: Promise<unknown>
  readonly stop: () => Promise<void>
}

export const consume = (options: ConsumeOptions): Consuming => {
  const { kafka, settings, topics, handle, same, health, brokers, emit, fail, shared } = options
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
    // Whether there is a next consumer is decided by whoever called: kafkajs gives up on some outages, and others it takes for a crash loop.
    retry: { initialRetryTime: 200, maxRetryTime: 5_000, retries: 12, restartOnFailure: () => Promise.resolve(false) },
  })
  let heartbeats = 0
  let assignment: Readonly<Record<string, readonly number[]>> = {}
  consumer.on(consumer.events.REQUEST, brokers.answered)
  consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
    shared.generation++
    shared.memberId = payload.memberId
    same.joined(topics)
    assignment = payload.memberAssignment
    const assigned = Object.entries(payload.memberAssignment).flatMap(([topic, partitions]) =>
      partitions.map((partition) => `${topic}/${partition}`),
    )
    health.joined(assigned)
    emit({ event: 'group_joined', partitions: assigned.length, tookMs: payload.duration })
  })
  consumer.on(consumer.events.HEARTBEAT, () => {
    heartbeats++
  })

  /** After a rejoin a batch of the former generation may still be in progress: the partition's next one waits for it. */
  const eachBatch = async (payload: EachBatchPayload): Promise<void> => {
    const name = `${payload.batch.topic}/${payload.batch.partition}`
    await shared.running.get(name)?.catch(() => undefined)
    const work = oneBatch(payload)
    shared.running.set(name, work)
    try {
      await work
    } finally {
      if (shared.running.get(name) === work) shared.running.delete(name)
    }
  }

  const oneBatch = async (payload: EachBatchPayload): Promise<void> => {
    const { batch } = payload
    const { topic, partition } = batch
    const began = shared.generation
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
        goesOn: () => payload.isRunning() && lost === undefined && shared.generation === began && !payload.isStale(),
        resolve: (last) => {
          if (shared.generation === began) payload.resolveOffset(last)
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

  let isStopped = false
  const crashed = new Promise<unknown>((resolve) => {
    consumer.on(consumer.events.CRASH, ({ payload }) => resolve(payload.error))
    const begin = async (): Promise<void> => {
      await consumer.connect()
      if (shared.memberId !== undefined) await leaveGroup(kafka, settings.groupId, shared.memberId)
      shared.memberId = undefined
      await consumer.subscribe({ topics: [...topics], fromBeginning: true })
      if (isStopped) return close(consumer)
      await consumer.run({
        autoCommit: !exactly,
        eachBatchAutoResolve: false,
        partitionsConsumedConcurrently: concurrentPartitions,
        eachBatch,
      })
    }
    begin().catch(async (error: unknown) => {
      await close(consumer).catch(() => undefined) // the error that it ended with says more
      resolve(error)
    })
  })
  const stop = async (): Promise<void> => {
    isStopped = true
    await close(consumer)
    shared.memberId = undefined
  }
  return { crashed, stop }
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
