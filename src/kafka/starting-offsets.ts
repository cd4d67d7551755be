// Where partitions are read from after a join: at the position that the group committed, unless that is one in a former topic of the same name.
import type { Kafka, Admin } from 'kafkajs'
import type { Emit } from '../telemetry/event.js'
import { clusterOf, type Cluster } from './cluster.js'
import { committedOffsets, settledOffsets, type Committed } from './committed-offsets.js'
import { isOfFormerTopic, metadataOf, type Commit } from './commit-metadata.js'
import { type TopicIdentity, readTopicIds } from './topic-identity.js'
import { answeredWithin } from './within.js'
import { failureOf } from './failure.js'
import { nameOf, type InputPartition } from './fetched.js'

type Starts = {
  /** Of the topic that the offsets are in; undefined where brokers have no ids. */
  readonly topicId: string | undefined
  readonly offsets: ReadonlyMap<number, string>
  /** What the group has committed of the partitions, where that is what is read from. */
  readonly committed: ReadonlyMap<number, Commit>
}

/** Throws if nobody answers, or if the topic does not exist. What is fetched after it is of the topic with this id, or of a later one. */
export type StartingOffsets = (topic: string, partitions: readonly number[]) => Promise<Starts>

type StartingOffsetsOptions = {
  readonly committed: (topic: string, partitions: readonly number[]) => Promise<readonly Committed[]>
  /** The oldest offset of each partition. */
  readonly oldest: (topic: string, partitions: readonly number[]) => Promise<ReadonlyMap<number, string>>
  readonly identity: Pick<TopicIdentity, 'askEach'>
  /** Called for each partition whose offsets mean nothing any more. */
  readonly recreated: (partition: InputPartition) => void
  readonly emit: Emit
}

export const startingOffsets = (options: StartingOffsetsOptions): StartingOffsets => {
  const { committed, oldest, identity, recreated, emit } = options
  /** By `topic/partition`: the id of the topic that this process has read it in, until the group has committed in the next one. */
  const readIn = new Map<string, string>()
  const reported = new Map<string, string>()
  return async (topic, partitions) => {
    const commits = new Map((await committed(topic, partitions)).map((one) => [one.partition, one]))
    const topicId = await identity.askEach(topic)
    const offsets = new Map<number, string>()
    const fromCommit = new Map<number, Commit>()
    const former: InputPartition[] = []
    const without: number[] = []
    for (const partition of partitions) {
      const { offset = '-1', metadata = null } = commits.get(partition) ?? {}
      const isCommitted = Number(offset) >= 0
      const name = nameOf({ topic, partition })
      if (isOfFormerTopic(isCommitted ? metadata : null, topicId, readIn.get(name))) {
        former.push({ topic, partition })
        // Not the oldest offset: a broker that is not done with the change may still name that of the former topic.
        offsets.set(partition, '0')
        continue
      }
      if (topicId !== undefined) readIn.set(name, topicId)
      if (isCommitted) {
        fromCommit.set(partition, { offset, metadata: metadata ?? '' })
        offsets.set(partition, offset)
      } else without.push(partition)
    }
    if (without.length > 0) {
      const first = await oldest(topic, without)
      for (const partition of without) offsets.set(partition, first.get(partition) ?? '0')
    }
    for (const one of former) recreated(one)
    if (former.length > 0 && topicId !== undefined && reported.get(topic) !== topicId) {
      reported.set(topic, topicId)
      emit({ event: 'topic_recreated', topic })
    }
    return { topicId, offsets, committed: fromCommit }
  }
}

/** A batch waits for it, and its member cannot join again meanwhile. */
const answerMs = 10_000

export type OpenStartingOffsets = {
  readonly read: StartingOffsets
  /** Whether the topic is now the one whose position was read last. Throws if nobody answers, if brokers differ, or if the topic does not exist. */
  readonly isStillRead: (partition: InputPartition) => Promise<boolean>
  /** Whether the position that was read last is one in the topic with this id, as far as that is known. */
  readonly isReadIn: (partition: InputPartition, topicId: string) => boolean
  /** Those whose committed position is in another topic than the one with this id. Throws if nobody answers. */
  readonly committedElsewhere: (
    topic: string,
    partitions: readonly number[],
    topicId: string,
  ) => Promise<readonly number[]>
  /** Calls it with each partition whose offsets mean nothing any more. */
  readonly whenRecreated: (use: (partition: InputPartition) => void) => void
  readonly close: () => Promise<void>
}

/** Not by kafkajs's admin, which asks about the partitions that it knew minutes ago. */
export const openStartingOffsets = (
  kafka: Kafka,
  groupId: string,
  options: Pick<StartingOffsetsOptions, 'identity' | 'emit'>,
): OpenStartingOffsets => {
  let current: Cluster | undefined
  /** After a failure with new connections and metadata: with a topic that is gone kafkajs could not refresh them any more. */
  const request = async <Result>(ask: (cluster: Cluster) => Promise<Result>): Promise<Result> => {
    const cluster = (current ??= clusterOf(kafka))
    try {
      return await answeredWithin(answerMs, 'the committed offsets', async () => {
        await cluster.connect()
        // Without the list of brokers kafkajs finds no coordinator, fetches the list and tries again only a third of a second later.
        if (Object.keys(cluster.brokerPool.brokers).length === 0) await cluster.refreshMetadata()
        return ask(cluster)
      })
    } catch (error) {
      if (current === cluster) current = undefined
      cluster.disconnect().catch(() => undefined) // it is not used again, however that ends
      throw error
    }
  }
  const listeners: ((partition: InputPartition) => void)[] = []
  const readStarts = startingOffsets({
    ...options,
    recreated: (partition) => {
      for (const use of listeners) use(partition)
    },
    committed: (topic, partitions) => request((cluster) => settledOffsets(cluster, { groupId, topic, partitions })),
    oldest: (topic, partitions) => request((cluster) => oldestIn(cluster, topic, partitions)),
  })
  const ids = new Map<string, string | undefined>()
  /** By name: which of the reads told its id. */
  const toldBy = new Map<string, number>()
  let reads = 0
  return {
    read: async (topic, partitions) => {
      const nth = ++reads
      const starts = await readStarts(topic, partitions)
      for (const name of partitions.map((partition) => nameOf({ topic, partition }))) {
        // One that was overtaken may tell of a topic that is gone.
        if ((toldBy.get(name) ?? 0) > nth) continue
        toldBy.set(name, nth)
        ids.set(name, starts.topicId)
      }
      return starts
    },
    isStillRead: async (partition) => {
      const id = ids.get(nameOf(partition))
      return id === undefined || (await options.identity.askEach(partition.topic)) === id
    },
    isReadIn: (partition, topicId) => (ids.get(nameOf(partition)) ?? topicId) === topicId,
    committedElsewhere: async (topic, partitions, topicId) => {
      // While transactions go on: a partition whose offset is about to change belongs to somebody who reads the topic of now.
      const committed = await request((cluster) => committedOffsets(cluster, { groupId, topic, partitions }))
      const commits = new Map(committed.map((one) => [one.partition, one]))
      return partitions.filter((partition) => {
        const { offset = '-1', metadata = null } = commits.get(partition) ?? {}
        return isOfFormerTopic(Number(offset) >= 0 ? metadata : null, topicId, ids.get(nameOf({ topic, partition })))
      })
    },
    whenRecreated: (use) => void listeners.push(use),
    close: async () => current?.disconnect(),
  }
}

const numbered = (partitions: readonly number[]): readonly { readonly partition: number }[] =>
  partitions.map((partition) => ({ partition }))

/** Without a partition that was added only now. */
const oldestIn = async (
  cluster: Cluster,
  topic: string,
  partitions: readonly number[],
): Promise<ReadonlyMap<number, string>> => {
  await cluster.addTargetTopic(topic)
  await cluster.refreshMetadataIfNecessary()
  const [found] = await cluster.fetchTopicsOffset([{ topic, partitions: numbered(partitions), fromBeginning: true }])
  return new Map((found?.partitions ?? []).map(({ partition, offset }) => [partition, offset]))
}

// For a new group that should not read existing records: its offsets are committed once, at the end of each partition.

export const hasCommitted = async (
  admin: Pick<Admin, 'fetchOffsets'>,
  groupId: string,
  topics: readonly string[],
): Promise<boolean> => {
  const committed = await admin.fetchOffsets({ groupId, topics: [...topics] })
  return committed.some(({ partitions }) => partitions.some(({ offset }) => Number(offset) >= 0))
}

/** Records that the topics hold. */
export const countRecords = async (
  admin: Pick<Admin, 'fetchTopicOffsets'>,
  topics: readonly string[],
): Promise<number> => {
  const partitions = await Promise.all(topics.map((topic) => admin.fetchTopicOffsets(topic)))
  return partitions.flat().reduce((sum, { low, high }) => sum + Number(high) - Number(low), 0)
}

/**
 * Not by the consumer's own setting: with that the records of a partition added later are lost. It is one commit from outside the group, which is
 * refused once the group has members: another worker has begun. kafkajs's admin would join the group for it, and two workers that do so at the same time
 * disturb each other and leave partitions without an offset. False where it was refused.
 */
export const startAtTheEnd = async (
  admin: Admin,
  kafka: Kafka,
  groupId: string,
  topics: readonly string[],
): Promise<boolean> => {
  const cluster = clusterOf(kafka)
  try {
    await cluster.connect()
    await cluster.refreshMetadata()
    // Before the ends are read: if one is of a topic that was created since, that is read from its beginning.
    const ids = await readTopicIds(cluster, topics)
    const ends = await Promise.all(
      topics.map(async (topic) => ({
        topic,
        partitions: (await admin.fetchTopicOffsets(topic)).map(({ partition, high }) => ({
          partition,
          offset: high,
          metadata: metadataOf(ids?.get(topic)),
        })),
      })),
    )
    const coordinator = await cluster.findGroupCoordinator({ groupId })
    await coordinator.offsetCommit({ groupId, groupGenerationId: -1, memberId: '', topics: ends })
    return true
  } catch (error) {
    if (!hasMembers.has(failureOf(error).name)) throw error
    return false
  } finally {
    await cluster.disconnect()
  }
}

const hasMembers = new Set(['UNKNOWN_MEMBER_ID', 'ILLEGAL_GENERATION', 'REBALANCE_IN_PROGRESS'])
