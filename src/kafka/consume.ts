// One consumer: it joins the group and passes on fetched batches, one per partition at a time, until it crashes or is stopped.
import type { Consumer, EachBatchPayload, Kafka } from 'kafkajs'
import { leaveGroup } from './leave-group.js'
import type { HealthRecord } from './health.js'
import type { BrokerWatch } from './broker-watch.js'
import { onOffsetReset } from './patched-kafkajs/offset-reset.js'
import { processBatch, type BatchContext } from './process-batch.js'
import type { KafkaSettings } from './settings.js'
import { nameOf, type Assigned } from './sightings.js'

export type ConsumeOptions = Pick<BatchContext, 'handle' | 'identity' | 'shared' | 'emit' | 'fail'> & {
  readonly kafka: Kafka
  readonly settings: KafkaSettings
  readonly topics: readonly string[]
  readonly health: HealthRecord
  readonly brokers: BrokerWatch
  /** Called after every join with all partitions that are assigned now. */
  readonly joined: (assigned: readonly Assigned[], isSameMember: boolean) => void
}

export type Consuming = {
  /** Resolves with the error that ended it; never after a stop. */
  readonly crashed: Promise<unknown>
  readonly stop: () => Promise<void>
}

export const consume = (options: ConsumeOptions): Consuming => {
  const { kafka, settings, topics, shared } = options
  const heartbeatMs = Math.max(200, Math.min(1_000, Math.floor(settings.limits.sessionTimeoutMs / 10)))
  const consumer = newConsumer(kafka, settings, heartbeatMs)
  const context: BatchContext = { ...options, consumer, heartbeatMs, heartbeats: 0, isStopped: false }
  listen(consumer, context, options)

  /** After a rejoin a batch of the former generation may still be in progress: the partition's next one waits for it. */
  const eachBatch = async (payload: EachBatchPayload): Promise<void> => {
    const name = `${payload.batch.topic}/${payload.batch.partition}`
    await shared.running.get(name)?.catch(() => undefined)
    const processing = processBatch(payload, context)
    shared.running.set(name, processing)
    try {
      await processing
    } finally {
      if (shared.running.get(name) === processing) shared.running.delete(name)
    }
  }

  let isStopped = false
  const crashed = new Promise<unknown>((resolve) => {
    consumer.on(consumer.events.CRASH, ({ payload }) => {
      context.isStopped = true
      resolve(payload.error)
    })
    const begin = async (): Promise<void> => {
      await consumer.connect()
      if (shared.memberId !== undefined) await leaveGroup(kafka, settings.groupId, shared.memberId)
      shared.memberId = undefined
      await consumer.subscribe({ topics: [...topics], fromBeginning: true })
      if (isStopped) return close(consumer)
      await consumer.run({
        // It would not say which topic the offsets are in: positions are committed with what was delivered.
        autoCommit: false,
        eachBatchAutoResolve: false,
        partitionsConsumedConcurrently: settings.limits.concurrentPartitions,
        eachBatch,
      })
    }
    begin().catch(async (error: unknown) => {
      await close(consumer).catch(() => undefined) // the error that it ended with matters more
      resolve(error)
    })
  })
  const stop = async (): Promise<void> => {
    isStopped = true
    context.isStopped = true
    await close(consumer)
    shared.memberId = undefined
  }
  return { crashed, stop }
}

const newConsumer = (kafka: Kafka, { groupId, delivery, limits }: KafkaSettings, heartbeatMs: number): Consumer =>
  kafka.consumer({
    groupId,
    sessionTimeout: limits.sessionTimeoutMs,
    rebalanceTimeout: Math.max(limits.sessionTimeoutMs, 60_000),
    heartbeatInterval: heartbeatMs,
    maxBytesPerPartition: delivery === 'exactly-once' ? 786_432 : 524_288,
    maxBytes: 10_485_760,
    minBytes: 1,
    maxWaitTimeInMs: 250,
    metadataMaxAge: limits.refreshMs,
    allowAutoTopicCreation: false,
    // The caller decides about the next consumer: kafkajs gives up on some outages, and takes others for a crash loop.
    retry: { initialRetryTime: 200, maxRetryTime: 5_000, retries: 12, restartOnFailure: () => Promise.resolve(false) },
  })

const listen = (
  consumer: Consumer,
  context: BatchContext,
  { topics, health, brokers, joined }: ConsumeOptions,
): void => {
  const { shared, identity, emit } = context
  consumer.on(consumer.events.REQUEST, brokers.answered)
  consumer.on(consumer.events.HEARTBEAT, () => {
    context.heartbeats++
  })
  consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
    shared.generation++
    const isSameMember = shared.memberId === payload.memberId
    shared.memberId = payload.memberId
    identity.joined(topics)
    const assigned = Object.entries(payload.memberAssignment).flatMap(([topic, partitions]) =>
      partitions.map((partition) => assignedOf(context, topic, partition)),
    )
    joined(assigned, isSameMember)
    health.joined(assigned.map(nameOf))
    emit({ event: 'group_joined', partitions: assigned.length, tookMs: payload.duration })
  })
  onOffsetReset(consumer, ({ topic, partition, position }) => {
    shared.resets.set(`${topic}/${partition}`, position)
    identity.recheck()
  })
}

/** A heartbeat that was answered in this generation proves it, whichever batch or fetch it was sent for. */
const assignedOf = (context: BatchContext, topic: string, partition: number): Assigned => {
  const { shared, consumer } = context
  const { generation } = shared
  return {
    topic,
    partition,
    generation,
    seek: (offset) => consumer.seek({ topic, partition, offset }),
    proveMembership: async () => {
      for (const before = context.heartbeats; context.heartbeats === before;) {
        await pause(20)
        if (context.isStopped || shared.generation !== generation) throw new Error('no longer a member since')
      }
      if (shared.generation !== generation) throw new Error('joined again since')
    },
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const close = async (consumer: Consumer): Promise<void> => {
  await consumer.stop()
  await consumer.disconnect()
}
