// The consumer group of one sink: reads the alerts topic from the committed position and remembers the alerts before it.
import { setTimeout as sleep } from 'node:timers/promises'
import { setPositions } from './set-positions.js'
import type { BrokerWatch } from '../../kafka/broker-watch.js'
import type { createClient } from '../../kafka/client.js'
import { metadataOf } from '../../kafka/commit-metadata.js'
import { failureOf, FatalKafkaError } from '../../kafka/failure.js'
import type { Assigned, Fetched } from '../../kafka/fetched.js'
import { recordHealth, type KafkaHealth, type PartitionProgress } from '../../kafka/health.js'
import type { Shared } from '../../kafka/process-batch.js'
import { startRestartingConsumer } from '../../kafka/restarting-consumer.js'
import type { KafkaSettings } from '../../kafka/settings.js'
import { openStartingOffsets } from '../../kafka/starting-offsets.js'
import type { TopicIdentity } from '../../kafka/topic-identity.js'
import type { TopicReader } from '../../kafka/topic-reader.js'
import type { Emit } from '../../telemetry/event.js'
import type { SinkDelivery } from './sink-delivery.js'

type AlertConsumer = {
  readonly health: () => KafkaHealth
  /** Waits for requests in progress. */
  readonly stop: () => Promise<void>
}

type AlertConsumerOptions = {
  readonly connect: () => ReturnType<typeof createClient>
  /** `groupId` is the sink's own group. */
  readonly settings: KafkaSettings
  readonly topic: string
  readonly delivery: SinkDelivery
  /** Alerts that are older are not read to remember them; 0: nothing is remembered. */
  readonly rememberMs: number
  readonly reader: TopicReader
  readonly identity: TopicIdentity
  readonly brokers: BrokerWatch
  readonly emit: Emit
  readonly now: () => number
  readonly fail: (sentence: string, needsOperator?: boolean) => void
}

const maxRemembered = 100_000
const againMs = 500

export const consumeAlerts = (options: AlertConsumerOptions): AlertConsumer => {
  const { connect, settings, topic, delivery, identity, brokers, emit, now, fail } = options
  const health = recordHealth(now, brokers)
  const starting = openStartingOffsets(connect(), settings.groupId, { identity, emit })
  const positions = setPositions(starting.read)
  /** The topic's current id. */
  let topicId: string | undefined
  const shared: Shared = { generation: 0, running: new Map(), resets: new Map() }
  const progress = new Map<number, PartitionProgress>()
  const remembered = new Map<number, Promise<void>>()
  const remember = async (partition: number): Promise<void> => {
    try {
      await rememberBefore(options, partition, (await starting.read(topic, [partition])).offsets.get(partition))
    } catch (error) {
      // Without this, the sink may get a group's alerts again.
      emit({ event: 'kafka_client_warned', about: `${topic}/${partition} before`, message: failureOf(error).message })
    }
  }
  const joined = (assigned: readonly Assigned[]): void => {
    const mine = new Set(assigned.map(({ partition }) => partition))
    for (const [partition, shown] of progress) {
      if (mine.has(partition)) continue
      shown.close()
      progress.delete(partition)
      remembered.delete(partition)
    }
    for (const partition of mine)
      if (!progress.has(partition)) {
        progress.set(partition, health.track(`${topic}/${partition}`))
        remembered.set(partition, remember(partition))
      }
    delivery.joined([...mine])
    positions.joined(assigned)
  }
  const handle = async (fetched: Fetched): Promise<void> => {
    const { partition, name } = fetched
    let metadata: string
    try {
      metadata = metadataOf(await positions.topicIdOf({ topic, topicId }))
    } catch (error) {
      emit({ event: 'kafka_client_warned', about: `position of ${name}`, message: failureOf(error).message })
      await sleep(againMs)
      return // nothing is resolved, so the batch is fetched again
    }
    await remembered.get(partition)
    if (!fetched.goesOn()) return
    const resolve: Fetched['resolve'] = (last, committed) => {
      fetched.resolve(last, committed)
      progress.get(partition)?.moved(1, Number(last) + 1, fetched.lag)
    }
    try {
      await delivery.deliver({ ...fetched, resolve }, metadata)
    } catch (error) {
      if (error instanceof FatalKafkaError) fail(error.message, error.needsOperator)
      throw error
    }
  }
  const consumer = startRestartingConsumer({
    connect,
    shared,
    brokers,
    settings,
    topics: [topic],
    identity,
    topicIs: (_topic, id) => {
      topicId = id
      // If the topic was recreated, this sets the positions again; the next delivery reports an error.
      positions.topicIdOf({ topic, topicId }).catch(() => undefined)
    },
    health,
    emit,
    fail,
    handle,
    joined,
  })
  health.setState('running')
  return {
    health: health.read,
    stop: async () => {
      health.setState('draining')
      await consumer.stop()
      await Promise.all(shared.running.values())
      await starting.close()
    },
  }
}

/** Remembers the alerts before the committed position, limited by count and age. */
const rememberBefore = async (
  { reader, topic, delivery, rememberMs, now }: AlertConsumerOptions,
  partition: number,
  position = '0',
): Promise<void> => {
  if (rememberMs === 0) return
  const end = Number(position)
  const [since, earliest] = await Promise.all([
    reader.offsetsAt(topic, now() - rememberMs),
    reader.offsetsAt(topic, 'earliest'),
  ])
  const first = since.get(partition) ?? -1
  if (first < 0) return
  for (let at = Math.max(first, earliest.get(partition) ?? 0, end - maxRemembered); at < end;) {
    const { records, next } = await reader.fetch(topic, partition, at)
    for (const record of records) if (Number(record.offset) < end) delivery.remember(record)
    if (next === at) return
    at = next
  }
}
