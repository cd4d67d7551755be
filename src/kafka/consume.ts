// One consumer: joins the group and passes on fetched batches, one per partition at a time, until it crashes or is stopped.
import type { Consumer, Kafka } from 'kafkajs'
import type { HealthRecord } from './health.js'
import type { BrokerWatch } from './broker-watch.js'
import { newMembership } from './membership.js'
import { toldOf } from './patched-kafkajs/tell-heartbeat.js'
import { onFailedFetch, onOffsetReset } from './patched-kafkajs/offset-reset.js'
import { JoinedAgain, processBatch, proveMembership, type BatchContext } from './process-batch.js'
import type { KafkaSettings } from './settings.js'
import { clusterOf } from './cluster.js'
import { failureOf } from './failure.js'
import type { Assigned } from './fetched.js'

export type ConsumeOptions = Pick<BatchContext, 'handle' | 'topicIs' | 'identity' | 'shared' | 'emit' | 'fail'> & {
  readonly kafka: Kafka
  readonly settings: KafkaSettings
  readonly topics: readonly string[]
  readonly health: HealthRecord
  readonly brokers: BrokerWatch
  /** Called after every join with all partitions assigned now. */
  readonly joined: (assigned: readonly Assigned[]) => void
}

export type Consuming = {
  /** Resolves with the error of a crash; never after a stop. */
  readonly crashed: Promise<unknown>
  readonly stop: () => Promise<void>
}

export const consume = (options: ConsumeOptions): Consuming => {
  const { kafka, settings, topics, shared } = options
  const heartbeatMs = Math.max(200, Math.min(1_000, Math.floor(settings.limits.sessionTimeoutMs / 10)))
  const consumer = newConsumer(kafka, settings, heartbeatMs)
  const context: BatchContext = {
    ...options,
    seek: (partition, offset) => consumer.seek({ ...partition, offset }),
    isTransactional: settings.delivery === 'exactly-once',
    heartbeatMs,
    heartbeats: 0,
    heartbeatNow: () => Promise.resolve(),
    membership: newMembership(shared.generation),
    isStopped: false,
  }
  listen(consumer, context, options)
  const looking = setInterval(() => void look(options), lookMs)

  let isStopped = false
  const crashed = new Promise<unknown>((resolve) => {
    consumer.on(consumer.events.CRASH, ({ payload }) => {
      context.isStopped = true
      clearInterval(looking)
      context.membership.lose(payload.error)
      resolve(payload.error)
    })
    const begin = async (): Promise<void> => {
      await consumer.connect()
      if (shared.memberId !== undefined) await leaveGroup(kafka, settings.groupId, shared.memberId)
      shared.memberId = undefined
      await consumer.subscribe({ topics: [...topics], fromBeginning: true })
      if (isStopped) return close(consumer)
      await consumer.run({
        // Automatic commits would lack the topic id. Positions are committed with the output instead.
        autoCommit: false,
        eachBatchAutoResolve: false,
        partitionsConsumedConcurrently: settings.limits.concurrentPartitions,
        eachBatch: (payload) => processBatch(payload, context),
      })
    }
    begin().catch(async (error: unknown) => {
      clearInterval(looking)
      await close(consumer).catch(() => undefined) // the original error matters more
      resolve(error)
    })
  })
  const stop = async (): Promise<void> => {
    isStopped = true
    context.isStopped = true
    clearInterval(looking)
    await close(consumer)
    shared.memberId = undefined
  }
  return { crashed, stop }
}

/** Interval of topic id checks on idle topics. A topic created again with as many records as were read causes no error at our position. */
const lookMs = 5_000

const look = async ({ topics, identity, topicIs }: ConsumeOptions): Promise<void> => {
  for (const topic of topics) {
    const id = await identity.current(topic)
    if (typeof id === 'string') topicIs(topic, id)
  }
}

/** SaslHandshake, ApiVersions and SaslAuthenticate: brokers answer them without a login, so they prove nothing. */
const beforeLogin: ReadonlySet<number> = new Set([17, 18, 36])

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
    // The caller restarts consumers: kafkajs gives up in some outages and mistakes others for a crash loop.
    retry: { initialRetryTime: 200, maxRetryTime: 5_000, retries: 12, restartOnFailure: () => Promise.resolve(false) },
  })

const listen = (
  consumer: Consumer,
  context: BatchContext,
  { topics, health, brokers, joined }: ConsumeOptions,
): void => {
  const { shared, identity, emit } = context
  consumer.on(consumer.events.REQUEST, ({ payload: { apiKey } }) => {
    if (!beforeLogin.has(apiKey)) brokers.answered()
  })
  // Emitted before CRASH.
  consumer.on(consumer.events.STOP, () => {
    context.isStopped = true
  })
  consumer.on(consumer.events.HEARTBEAT, () => {
    context.heartbeats++
  })
  consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
    context.membership.lose(new JoinedAgain())
    context.membership = newMembership(++shared.generation)
    context.heartbeatNow = toldOf(payload).heartbeat
    shared.memberId = payload.memberId
    identity.joined(topics)
    const assigned = Object.entries(payload.memberAssignment).flatMap(([topic, partitions]) =>
      partitions.map((partition) => assignedOf(consumer, context, topic, partition)),
    )
    joined(assigned)
    health.joined()
    emit({ event: 'group_joined', partitions: assigned.length, tookMs: payload.duration })
  })
  onOffsetReset(consumer, ({ topic, partition, position }) => {
    shared.resets.set(`${topic}/${partition}`, position)
  })
  onFailedFetch(consumer, identity.recheck)
}

const assignedOf = (consumer: Consumer, context: BatchContext, topic: string, partition: number): Assigned => {
  const { membership } = context
  return {
    topic,
    partition,
    generation: membership.generation,
    seek: (offset) => context.seek({ topic, partition }, offset),
    // A stopped consumer fetches nothing, so there is nothing to pause.
    pause: () => {
      if (!context.isStopped) consumer.pause([{ topic, partitions: [partition] }])
    },
    resume: () => {
      if (!context.isStopped) consumer.resume([{ topic, partitions: [partition] }])
    },
    isMember: () => !context.isStopped && membership.lost() === undefined,
    proveMembership: () => proveMembership(context, membership),
  }
}

const close = async (consumer: Consumer): Promise<void> => {
  await consumer.stop()
  await consumer.disconnect()
}

// Removes a former consumer of this process from its group. Otherwise the group waits for its session timeout.

/** Ignores a group that no longer knows the member. */
const leaveGroup = async (kafka: Kafka, groupId: string, memberId: string): Promise<void> => {
  const cluster = clusterOf(kafka)
  try {
    await cluster.connect()
    await cluster.refreshMetadata()
    await (await cluster.findGroupCoordinator({ groupId })).leaveGroup({ groupId, memberId })
  } catch (error) {
    if (failureOf(error).name !== 'UNKNOWN_MEMBER_ID') throw error
  } finally {
    await cluster.disconnect()
  }
}
