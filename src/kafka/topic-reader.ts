// Reads and commits without membership in a group; unlike a consumer, it knows where each fetch ended.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Kafka } from 'kafkajs'
import { failureOf, FatalKafkaError } from './failure.js'
import { clusterOf, readCommitted, readUncommitted } from './cluster.js'
import { committedOffsets, settledOffsets, type Committed } from './committed-offsets.js'
import { dropAborted } from './patched-kafkajs/drop-aborted.js'
import { readTopicIds, readTopicIdsAtEach } from './topic-identity.js'
import type { WireRecord } from './wire/record.js'
import { ignoreTelemetry } from '../telemetry/event.js'
import { createClient } from './client.js'
import type { KafkaSettings } from './settings.js'
import type { InputPartition } from './fetched.js'
import type { Incoming } from './records.js'

export type Position = { readonly partition: number; readonly offset: number; readonly metadata: string }

export type Fetch = {
  /** In order, from the requested offset on, without control records and aborted records. */
  readonly records: readonly WireRecord[]
  /** Start of the next fetch, past control records and compacted offsets. */
  readonly next: number
  /** Records that were deleted before the request. */
  readonly deleted: number
}

export type TopicReader = {
  readonly partitionsOf: (topic: string) => Promise<readonly number[]>
  /**
   * The id on which all answering brokers agree: later reads return records of this topic or of a newer one. Undefined if the brokers
   * have no topic ids.
   */
  readonly topicIdOf: (topic: string) => Promise<string | undefined>
  /** Per partition the first offset, the end of the committed records, or the first offset at or after a time; -1 if there is none. */
  readonly offsetsAt: (topic: string, at: 'earliest' | 'latest' | number) => Promise<ReadonlyMap<number, number>>
  /** The end of a partition, including open transactions. */
  readonly writtenEnd: (topic: string, partition: number) => Promise<number>
  /** Waits up to `waitMs` for records. */
  readonly fetch: (
    topic: string,
    partition: number,
    offset: number,
    maxBytes?: number,
    waitMs?: number,
  ) => Promise<Fetch>
  readonly committed: (groupId: string, topic: string) => Promise<readonly Position[]>
  /** The position of one partition, once no open transaction can change it. */
  readonly settled: (groupId: string, topic: string, partition: number) => Promise<Position | undefined>
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
  /** Leaders move and connections break, so a later attempt may succeed. */
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
        await cluster.refreshMetadata().catch(() => undefined) // the next attempt refreshes the metadata again
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

  const topicIdOf: TopicReader['topicIdOf'] = (topic) =>
    withRetries(async () => {
      const first = await readTopicIds(cluster, [topic])
      if (!first) return undefined
      const each = await readTopicIdsAtEach(cluster, [topic])
      if (each.some((ids) => ids.get(topic) !== first.get(topic)))
        throw new Error(`topic ${topic} was created again, and not all brokers know it yet`)
      return first.get(topic)
    })

  const offsetsAt: TopicReader['offsetsAt'] = async (topic, at) => {
    const partitions = (await partitionsOf(topic)).map((partition) => ({ partition }))
    const which = typeof at === 'number' ? { fromTimestamp: at } : { fromBeginning: at === 'earliest' }
    const [found] = await withRetries(() => cluster.fetchTopicsOffset([{ topic, partitions, ...which }]))
    return new Map((found?.partitions ?? []).map(({ partition, offset }) => [partition, Number(offset)]))
  }

  const leaderOf = async (topic: string, partition: number): ReturnType<typeof cluster.findBroker> => {
    await refreshFor(topic)
    const [nodeId = ''] = Object.keys(cluster.findLeaderForPartitions(topic, [partition]))
    return cluster.findBroker({ nodeId })
  }

  const writtenEnd: TopicReader['writtenEnd'] = async (topic, partition) => {
    const topics = [{ topic, partitions: [{ partition, timestamp: -1 }] }]
    const { responses } = await withRetries(async () =>
      (await leaderOf(topic, partition)).listOffsets({ isolationLevel: readUncommitted, topics }),
    )
    return Number(responses[0]?.partitions[0]?.offset ?? 0)
  }

  const fetch: TopicReader['fetch'] = async (topic, partition, offset, maxBytes = fetchBytes, waitMs = 100) => {
    try {
      const response = await withRetries(async () => {
        const broker = await leaderOf(topic, partition)
        return broker.fetch({
          isolationLevel: readCommitted,
          maxWaitTime: waitMs,
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
    const partitions = await partitionsOf(topic)
    return positionsOf(await withRetries(() => committedOffsets(cluster, { groupId, topic, partitions })))
  }

  const settled: TopicReader['settled'] = async (groupId, topic, partition) => {
    const asked = { groupId, topic, partitions: [partition] }
    return positionsOf(await withRetries(() => settledOffsets(cluster, asked)))[0]
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

  const close = (): Promise<void> => cluster.disconnect()
  return { partitionsOf, topicIdOf, offsetsAt, writtenEnd, fetch, committed, settled, commit, close }
}

const positionsOf = (offsets: readonly Committed[]): readonly Position[] =>
  offsets
    .filter(({ offset }) => Number(offset) >= 0)
    .map(({ partition, offset, metadata }) => ({ partition, offset: Number(offset), metadata: metadata ?? '' }))

// Reads the present records of a topic: all of them, or one partition up to an offset.

type Reader = Pick<TopicReader, 'fetch' | 'offsetsAt'>

/** An empty fetch waits a tenth of a second; together this exceeds the longest transaction. */
const maxEmptyFetches = 400

/** An open transaction may hold back the end for a while. */
export const readUpTo = async (
  { fetch, offsetsAt }: Reader,
  place: { readonly topic: string; readonly partition: number; readonly from?: number; readonly end: number },
  use: (record: WireRecord) => void,
  goesOn: () => boolean,
): Promise<void> => {
  const { topic, partition, from = 0, end } = place
  let empty = 0
  const first = (await offsetsAt(topic, 'earliest')).get(partition) ?? 0
  for (let at = Math.max(first, from); at < end && goesOn();) {
    const { records, next } = await fetch(topic, partition, at)
    for (const record of records) use(record)
    empty = next === at ? empty + 1 : 0
    if (empty > maxEmptyFetches) throw new Error(`${topic}/${partition} returns nothing from offset ${at} on`)
    if (empty > 0) await sleep(20)
    at = next
  }
}

export const readToEnd = async (
  reader: Reader,
  topic: string,
  use: (record: WireRecord) => void,
  goesOn: () => boolean,
): Promise<void> => {
  for (const [partition, end] of await reader.offsetsAt(topic, 'latest'))
    await readUpTo(reader, { topic, partition, end }, use, goesOn)
}

// Reads single records of a partition again by their offsets, in order; one fetch covers nearby offsets.

/** A broker returns at least one whole record batch, of any size. Request more only if many offsets are close together. */
const fetchFew = 65_536
const many = { offsets: 16, within: 1_000 }

type ReadAgain = {
  readonly records: readonly Incoming[]
  /** Offsets whose record no longer exists. */
  readonly gone: readonly number[]
  /** Offsets not read because of the limit. */
  readonly rest: readonly number[]
}

/** `offsets` in ascending order. Stops after the record that reaches `maxBytes`. */
export const readByOffset = async (
  { fetch, offsetsAt }: Pick<TopicReader, 'fetch' | 'offsetsAt'>,
  { topic, partition }: InputPartition,
  offsets: readonly number[],
  maxBytes: number,
): Promise<ReadAgain> => {
  const records: Incoming[] = []
  const gone: number[] = []
  // Offsets beyond the end exist only if the topic was deleted and created again.
  const end = (await offsetsAt(topic, 'latest')).get(partition)
  // Not `gone`: the reader's metadata may be older than the partition.
  if (end === undefined) throw new Error(`topic ${topic} had no partition ${partition} when its metadata were read`)
  let bytes = 0
  let at = 0
  while (at < offsets.length && bytes < maxBytes) {
    const from = offsets[at] as number
    if (from >= end) {
      gone.push(...offsets.slice(at))
      return { records, gone, rest: [] }
    }
    const areNear = (offsets[at + many.offsets] ?? Infinity) < from + many.within
    const fetched = await fetch(topic, partition, from, areNear ? fetchBytes : fetchFew)
    const found = new Map(fetched.records.map((record) => [Number(record.offset), record]))
    // An empty fetch means that the record is gone: it was read before, so it cannot still be pending.
    const next = Math.max(fetched.next, from + 1)
    for (; at < offsets.length && (offsets[at] as number) < next; at++) {
      const record = found.get(offsets[at] as number)
      if (!record) {
        gone.push(offsets[at] as number)
        continue
      }
      const { offset, timestamp, key, value, headers } = record
      records.push({ topic, partition, offset, timestamp, key, value, headers })
      bytes += value?.length ?? 0
    }
  }
  return { records, gone, rest: offsets.slice(at) }
}

// Opens a reader for one task, without a group, and closes it afterwards.

/** Resolves with the result of the task, or with the reason why the topics cannot be read. */
export const withTopicReader = async <Result>(
  settings: KafkaSettings,
  topics: readonly string[],
  task: (reader: TopicReader, existing: ReadonlySet<string>) => Promise<Result>,
): Promise<Result | { readonly refused: string }> => {
  let reader: TopicReader | undefined
  try {
    const kafka = createClient(settings, ignoreTelemetry)
    const admin = kafka.admin()
    await admin.connect()
    const existing = new Set(await admin.listTopics().finally(() => admin.disconnect()))
    const missing = topics.filter((topic) => !existing.has(topic))
    // A topic with a derived name may be missing.
    const named = missing.find((topic) => settings.derivedTopics?.includes(topic) !== true)
    const refused = missing.length === topics.length ? missing[0] : named
    if (refused !== undefined) return { refused: `topic ${refused} does not exist` }
    reader = await openTopicReader(kafka)
    return await task(reader, existing)
  } catch (error) {
    return { refused: `Kafka cannot be used: ${failureOf(error).message}` }
  } finally {
    await reader?.close()
  }
}

// Reads the record at one offset of a topic.

type RecordPlace = { readonly topic: string; readonly partition: number; readonly offset: number }

/** The record, or the reason why there is none. */
export const readRecord = (
  settings: KafkaSettings,
  { topic, partition, offset }: RecordPlace,
): Promise<WireRecord | { readonly refused: string }> =>
  withTopicReader(settings, [topic], async (reader) => {
    const [firsts, ends] = await Promise.all([reader.offsetsAt(topic, 'earliest'), reader.offsetsAt(topic, 'latest')])
    const first = firsts.get(partition)
    const end = ends.get(partition)
    if (first === undefined || end === undefined) return { refused: `topic ${topic} has no partition ${partition}` }
    if (offset < first || offset >= end)
      return { refused: `${topic}/${partition} holds the offsets ${first} to ${end - 1}, not ${offset}` }
    const { records } = await reader.fetch(topic, partition, offset)
    const record = records.find((one) => Number(one.offset) === offset)
    return record ?? { refused: `${topic}/${partition} has no event at ${offset}: it was taken out, or is no event` }
  })
