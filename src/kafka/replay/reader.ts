// Reads and commits without being a member of any group: a fetch says where it ends, which a consumer never tells.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Kafka } from 'kafkajs'
import { failureOf, Hopeless } from '../failure.js'
import { dropAborted, type AbortedTransaction } from '../wire/drop-aborted.js'
import type { WireRecord } from '../wire/record.js'

export type Position = { readonly partition: number; readonly offset: number; readonly metadata: string }

export type Fetch = {
  /** In order, from the offset asked for on; without control records and aborted ones. */
  readonly records: readonly WireRecord[]
  /** Where the next fetch begins: after control records and what compaction took out, too. */
  readonly next: number
  /** Records that were already deleted when they were asked for. */
  readonly deleted: number
}

export type Reader = {
  readonly partitionsOf: (topic: string) => Promise<readonly number[]>
  /** Per partition the first offset there is, the end of what is committed, or the first offset at or after a time; -1: none. */
  readonly offsetsAt: (topic: string, at: 'earliest' | 'latest' | number) => Promise<ReadonlyMap<number, number>>
  readonly fetch: (topic: string, partition: number, offset: number) => Promise<Fetch>
  readonly committed: (groupId: string, topic: string) => Promise<readonly Position[]>
  readonly commit: (groupId: string, topic: string, positions: readonly Position[]) => Promise<void>
  readonly close: () => Promise<void>
}

/** What is used of kafkajs's inner client, which its consumers and producers are made of. */
type Cluster = {
  readonly connect: () => Promise<void>
  readonly disconnect: () => Promise<void>
  readonly refreshMetadata: () => Promise<void>
  readonly refreshMetadataIfNecessary: () => Promise<void>
  readonly addTargetTopic: (topic: string) => Promise<void>
  readonly findTopicPartitionMetadata: (topic: string) => readonly { readonly partitionId: number }[]
  readonly findLeaderForPartitions: (topic: string, partitions: readonly number[]) => Record<string, number[]>
  readonly findBroker: (which: { readonly nodeId: string }) => Promise<Broker>
  readonly findGroupCoordinator: (which: { readonly groupId: string }) => Promise<Broker>
  readonly fetchTopicsOffset: (
    topics: readonly object[],
  ) => Promise<readonly { readonly partitions: readonly { readonly partition: number; readonly offset: string }[] }[]>
}

type Broker = {
  readonly fetch: (request: object) => Promise<{
    readonly responses: readonly {
      readonly partitions: readonly {
        readonly abortedTransactions: readonly AbortedTransaction[] | null
        readonly messages: readonly WireRecord[]
      }[]
    }[]
  }>
  readonly offsetFetch: (request: object) => Promise<{
    readonly responses: readonly {
      readonly partitions: readonly { partition: number; offset: string; metadata: string | null }[]
    }[]
  }>
  readonly offsetCommit: (request: object) => Promise<unknown>
}

const readCommitted = 1
const fetchBytes = 1_048_576
const attempts = 8

export const openReader = async (kafka: Kafka): Promise<Reader> => {
  const cluster = clusterOf(kafka)
  await cluster.connect()
  const known = new Set<string>()
  const know = async (topic: string): Promise<void> => {
    if (!known.has(topic)) await cluster.addTargetTopic(topic)
    known.add(topic)
    await cluster.refreshMetadataIfNecessary()
  }
  /** Leaders move and connections break; whoever asks again later gets an answer. */
  const insist = async <T>(ask: () => Promise<T>): Promise<T> => {
    for (let attempt = 1; ; attempt++)
      try {
        return await ask()
      } catch (error) {
        const { kind, name, message } = failureOf(error)
        if (name === 'OFFSET_OUT_OF_RANGE') throw error
        if (kind === 'hopeless' || kind === 'refused' || attempt === attempts)
          throw new Hopeless(`Kafka cannot be read: ${message}`)
        await sleep(100 * 2 ** attempt)
        await cluster.refreshMetadata().catch(() => undefined) // asked for again by the next attempt
      }
  }

  const partitionsOf = (topic: string): Promise<readonly number[]> =>
    insist(async () => {
      await know(topic)
      return cluster
        .findTopicPartitionMetadata(topic)
        .map(({ partitionId }) => partitionId)
        .sort((a, b) => a - b)
    })

  const offsetsAt: Reader['offsetsAt'] = async (topic, at) => {
    const partitions = (await partitionsOf(topic)).map((partition) => ({ partition }))
    const which = typeof at === 'number' ? { fromTimestamp: at } : { fromBeginning: at === 'earliest' }
    const [found] = await insist(() => cluster.fetchTopicsOffset([{ topic, partitions, ...which }]))
    return new Map((found?.partitions ?? []).map(({ partition, offset }) => [partition, Number(offset)]))
  }

  const fetch: Reader['fetch'] = async (topic, partition, offset) => {
    try {
      const answer = await insist(async () => {
        await know(topic)
        const [nodeId = ''] = Object.keys(cluster.findLeaderForPartitions(topic, [partition]))
        const broker = await cluster.findBroker({ nodeId })
        return broker.fetch({
          isolationLevel: readCommitted,
          maxWaitTime: 100,
          minBytes: 1,
          maxBytes: fetchBytes,
          topics: [{ topic, partitions: [{ partition, fetchOffset: String(offset), maxBytes: fetchBytes }] }],
        })
      })
      const [found] = answer.responses[0]?.partitions ?? []
      const messages = found?.messages ?? []
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
      throw new Hopeless(`${topic}/${partition} ends before offset ${offset}: was the topic made anew?`)
    }
  }

  const committed: Reader['committed'] = async (groupId, topic) => {
    const partitions = (await partitionsOf(topic)).map((partition) => ({ partition }))
    const { responses } = await insist(async () =>
      (await cluster.findGroupCoordinator({ groupId })).offsetFetch({ groupId, topics: [{ topic, partitions }] }),
    )
    return (responses[0]?.partitions ?? [])
      .filter(({ offset }) => Number(offset) >= 0)
      .map(({ partition, offset, metadata }) => ({ partition, offset: Number(offset), metadata: metadata ?? '' }))
  }

  const commit: Reader['commit'] = async (groupId, topic, positions) => {
    const partitions = positions.map(({ partition, offset, metadata }) => ({
      partition,
      offset: String(offset),
      metadata,
    }))
    await insist(async () =>
      (await cluster.findGroupCoordinator({ groupId })).offsetCommit({
        groupId,
        groupGenerationId: -1,
        memberId: '',
        topics: [{ topic, partitions }],
      }),
    )
  }

  return { partitionsOf, offsetsAt, fetch, committed, commit, close: () => cluster.disconnect() }
}

const clusterOf = (kafka: Kafka): Cluster => {
  const name = Object.getOwnPropertySymbols(kafka).find(
    ({ description }) => description === 'private:Kafka:createCluster',
  )
  const create = name && (kafka as unknown as Record<symbol, (options: object) => Cluster>)[name]
  if (!create) throw new Error('this kafkajs keeps its inner client elsewhere')
  return create({ metadataMaxAge: 300_000, allowAutoTopicCreation: false, isolationLevel: readCommitted })
}
