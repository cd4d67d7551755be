// Reads and commits without being a member of a group: unlike a consumer, it knows where each fetch ended.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Kafka } from 'kafkajs'
import { failureOf, FatalKafkaError } from './failure.js'
import { clusterOf, readCommitted } from './cluster.js'
import { dropAborted } from './patched-kafkajs/drop-aborted.js'
import { readTopicIds } from './topic-identity.js'
import type { WireRecord } from './wire/record.js'

export type Position = { readonly partition: number; readonly offset: number; readonly metadata: string }

export type Fetch = {
  /** In order, from the offset asked for on; without control records and aborted ones. */
  readonly records: readonly WireRecord[]
  /** Where the next fetch begins: after control records and what compaction took out, too. */
  readonly next: number
  /** Records that were already deleted when they were asked for. */
  readonly deleted: number
}

export type TopicReader = {
  readonly partitionsOf: (topic: string) => Promise<readonly number[]>
  /** Undefined where brokers have no ids. */
  readonly topicIdOf: (topic: string) => Promise<string | undefined>
  /** Per partition the first offset there is, the end of what is committed, or the first offset at or after a time; -1: none. */
  readonly offsetsAt: (topic: string, at: 'earliest' | 'latest' | number) => Promise<ReadonlyMap<number, number>>
  readonly fetch: (topic: string, partition: number, offset: number, maxBytes?: number) => Promise<Fetch>
  readonly committed: (groupId: string, topic: string) => Promise<readonly Position[]>
  readonly commit: (groupId: string, topic: string, positions: readonly Position[]) => Promise<void>
  readonly close: () => Promise<void>
}

const fetchBytes = 1_048_576
const maxAttempts = 8

export const openTopicReader = async (kafka: Kafka): Promise<TopicReader> => {
  const cluster = clusterOf(kafka)
  await cluster.connect()
  const known = new Set<string>()
  const refreshFor = async (topic: string): Promise<void> => {
    if (!known.has(topic)) await cluster.addTargetTopic(topic)
    known.add(topic)
    await cluster.refreshMetadataIfNecessary()
  }
  /** Leaders move and connections break: a later attempt may succeed. */
  const withRetries = async <T>(request: () => Promise<T>): Promise<T> => {
    for (let attempt = 1; ; attempt++)
      try {
        return await request()
      } catch (error) {
        const { kind, name, message } = failureOf(error)
        if (name === 'OFFSET_OUT_OF_RANGE') throw error
        if (kind === 'fatal' || kind === 'refused' || attempt === maxAttempts)
          throw new FatalKafkaError(`Kafka cannot be read: ${message}`)
        await sleep(100 * 2 ** attempt)
        await cluster.refreshMetadata().catch(() => undefined) // the next attempt asks for it again
      }
  }

  const partitionsOf = (topic: string): Promise<readonly number[]> =>
    withRetries(async () => {
      await refreshFor(topic)
      return cluster
        .findTopicPartitionMetadata(topic)
        .map(({ partitionId }) => partitionId)
        .sort((a, b) => a - b)
    })

  const topicIdOf: TopicReader['topicIdOf'] = async (topic) =>
    (await withRetries(() => readTopicIds(cluster, [topic])))?.get(topic)

  const offsetsAt: TopicReader['offsetsAt'] = async (topic, at) => {
    const partitions = (await partitionsOf(topic)).map((partition) => ({ partition }))
    const which = typeof at === 'number' ? { fromTimestamp: at } : { fromBeginning: at === 'earliest' }
    const [found] = await withRetries(() => cluster.fetchTopicsOffset([{ topic, partitions, ...which }]))
    return new Map((found?.partitions ?? []).map(({ partition, offset }) => [partition, Number(offset)]))
  }

  const fetch: TopicReader['fetch'] = async (topic, partition, offset, maxBytes = fetchBytes) => {
    try {
      const response = await withRetries(async () => {
        await refreshFor(topic)
        const [nodeId = ''] = Object.keys(cluster.findLeaderForPartitions(topic, [partition]))
        const broker = await cluster.findBroker({ nodeId })
        return broker.fetch({
          isolationLevel: readCommitted,
          maxWaitTime: 100,
          minBytes: 1,
          maxBytes,
          topics: [{ topic, partitions: [{ partition, fetchOffset: String(offset), maxBytes }] }],
        })
      })
      const [found] = response.responses[0]?.partitions ?? []
      const messages = found?.messages ?? []
      const [{ unreadable } = {}] = messages
      if (unreadable !== undefined) throw new FatalKafkaError(`${topic}/${partition}: ${unreadable}`)
      const next = Math.max(offset, Number(messages.at(-1)?.offset ?? offset - 1) + 1)
      const records = dropAborted({ messages, abortedTransactions: found?.abortedTransactions ?? null })
      return {
        records: records.filter((record) => !record.isControlRecord && Number(record.offset) >= offset),
        next,
        deleted: 0,
      }
    } catch (error) {
      if (failureOf(error).name !== 'OFFSET_OUT_OF_RANGE') throw error
      const first = (await offsetsAt(topic, 'earliest')).get(partition) ?? 0
      if (first > offset) return { records: [], next: first, deleted: first - offset }
      throw new FatalKafkaError(
        `${topic}/${partition} ends before offset ${offset}: was the topic deleted and created again?`,
      )
    }
  }

  const committed: TopicReader['committed'] = async (groupId, topic) => {
    const partitions = (await partitionsOf(topic)).map((partition) => ({ partition }))
    const { responses } = await withRetries(async () =>
      (await cluster.findGroupCoordinator({ groupId })).offsetFetch({ groupId, topics: [{ topic, partitions }] }),
    )
    return (responses[0]?.partitions ?? [])
      .filter(({ offset }) => Number(offset) >= 0)
      .map(({ partition, offset, metadata }) => ({ partition, offset: Number(offset), metadata: metadata ?? '' }))
  }

  const commit: TopicReader['commit'] = async (groupId, topic, positions) => {
    const partitions = positions.map(({ partition, offset, metadata }) => ({
      partition,
      offset: String(offset),
      metadata,
    }))
    await withRetries(async () =>
      (await cluster.findGroupCoordinator({ groupId })).offsetCommit({
        groupId,
        groupGenerationId: -1,
        memberId: '',
        topics: [{ topic, partitions }],
      }),
    )
  }

  return { partitionsOf, topicIdOf, offsetsAt, fetch, committed, commit, close: () => cluster.disconnect() }
}
