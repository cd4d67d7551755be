// Where partitions are read from after a join: at the position that the group committed, unless that is one in a former topic of the same name.
import type { Kafka, Admin } from 'kafkajs'
import type { Emit } from '../telemetry/event.js'
import { clusterOf, type Cluster } from './cluster.js'
import { settledOffsets, type Committed } from './committed-offsets.js'
import { isOfFormerTopic, metadataOf, type Commit } from './commit-metadata.js'
import { type TopicIdentity, readTopicIds } from './topic-identity.js'
import { answeredWithin } from './within.js'
import { failureOf } from './failure.js'

type Starts = {
  /** Of the topic that the offsets are in; undefined where brokers have no ids. */
  readonly topicId: string | undefined
  readonly offsets: ReadonlyMap<number, string>
  /** What the group has committed of the partitions, where that is what is read from. */
  readonly committed: ReadonlyMap<number, Commit>
  /** Those that were read in a former topic of the same name: what is known of them is about other records. */
  readonly former: ReadonlySet<number>
}

/**
 * Throws if nobody answers, or if the topic does not exist. What is fetched after it is of the topic with this id, or of a later one. `readIn`: the id
 * of the topic that the caller has read them in, if it has.
 */
export type StartingOffsets = (topic: string, partitions: readonly number[], readIn?: string) => Promise<Starts>

type StartingOffsetsOptions = {
  readonly committed: (topic: string, partitions: readonly number[]) => Promise<readonly Committed[]>
  /** The oldest offset of each partition. */
  readonly oldest: (topic: string, partitions: readonly number[]) => Promise<ReadonlyMap<number, string>>
  readonly identity: Pick<TopicIdentity, 'askEach'>
  readonly emit: Emit
}

export const startingOffsets = (options: StartingOffsetsOptions): StartingOffsets => {
  const { committed, oldest, identity, emit } = options
  const reported = new Map<string, string>()
  return async (topic, partitions, readIn) => {
    const commits = new Map((await committed(topic, partitions)).map((one) => [one.partition, one]))
    const topicId = await identity.askEach(topic)
    const offsets = new Map<number, string>()
    const fromCommit = new Map<number, Commit>()
    const former = new Set<number>()
    const without: number[] = []
    for (const partition of partitions) {
      const { offset = '-1', metadata = null } = commits.get(partition) ?? {}
      const isCommitted = Number(offset) >= 0
      if (isOfFormerTopic(isCommitted ? metadata : null, topicId, readIn)) {
        former.add(partition)
        // Not the oldest offset: a broker that is not done with the change may still name that of the former topic.
        offsets.set(partition, '0')
        continue
      }
      if (isCommitted) {
        fromCommit.set(partition, { offset, metadata: metadata ?? '' })
        offsets.set(partition, offset)
      } else without.push(partition)
    }
    if (without.length > 0) {
      const first = await oldest(topic, without)
      for (const partition of without) offsets.set(partition, first.get(partition) ?? '0')
    }
    if (former.size > 0 && topicId !== undefined && reported.get(topic) !== topicId) {
      reported.set(topic, topicId)
      emit({ event: 'topic_recreated', topic })
    }
    return { topicId, offsets, committed: fromCommit, former }
  }
}

/** A batch waits for it, and its member cannot join again meanwhile. */
const answerMs = 10_000

type OpenStartingOffsets = {
  readonly read: StartingOffsets
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
  return {
    read: startingOffsets({
      ...options,
      committed: (topic, partitions) => request((cluster) => settledOffsets(cluster, { groupId, topic, partitions })),
      oldest: (topic, partitions) => request((cluster) => oldestIn(cluster, topic, partitions)),
    }),
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
