// Finds the read position of partitions after a join: the committed offset, unless it belongs to a former topic of the same name.
import type { Kafka, Admin } from 'kafkajs'
import type { Emit } from '../telemetry/event.js'
import { clusterOf, type Cluster } from './cluster.js'
import { settledOffsets, type Committed } from './committed-offsets.js'
import { isOfFormerTopic, metadataOf, type Commit } from './commit-metadata.js'
import { type TopicIdentity, readTopicIds } from './topic-identity.js'
import { answeredWithin } from './within.js'
import { failureOf } from './failure.js'

type Starts = {
  /** Id of the topic that the offsets belong to; undefined if the brokers have no topic ids. */
  readonly topicId: string | undefined
  readonly offsets: ReadonlyMap<number, string>
  /** The group's commits, for partitions that continue from them. */
  readonly committed: ReadonlyMap<number, Commit>
  /** Partitions read in a former topic of the same name: stored state about them describes other records. */
  readonly former: ReadonlySet<number>
}

/**
 * Throws if no broker answers, or if the topic does not exist. Later fetches return records of the topic with this id or of a newer one.
 * `readIn` is the id of the topic in which the caller has read the partitions, if it has.
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
        // Not the oldest offset: a broker that has not applied the change yet may still report that of the former topic.
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

/** Short, because a batch waits for the answer, and its member cannot join again meanwhile. */
const answerMs = 10_000

type OpenStartingOffsets = {
  readonly read: StartingOffsets
  readonly close: () => Promise<void>
}

/** Avoids the admin client of kafkajs, whose list of partitions may be minutes old. */
export const openStartingOffsets = (
  kafka: Kafka,
  groupId: string,
  options: Pick<StartingOffsetsOptions, 'identity' | 'emit'>,
): OpenStartingOffsets => {
  let current: Cluster | undefined
  /** After a failure uses new connections and metadata: with a missing topic kafkajs could no longer refresh them. */
  const request = async <Result>(ask: (cluster: Cluster) => Promise<Result>): Promise<Result> => {
    const cluster = (current ??= clusterOf(kafka))
    try {
      return await answeredWithin(answerMs, 'the committed offsets', async () => {
        await cluster.connect()
        // Load the list of brokers first: without it kafkajs finds no coordinator, and retries only after a third of a second.
        if (Object.keys(cluster.brokerPool.brokers).length === 0) await cluster.refreshMetadata()
        return ask(cluster)
      })
    } catch (error) {
      if (current === cluster) current = undefined
      cluster.disconnect().catch(() => undefined) // not used again, so errors do not matter
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

/** Omits a partition that was added only now. */
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

// For a new group that should skip existing records: commits the end of each partition once.

export const hasCommitted = async (
  admin: Pick<Admin, 'fetchOffsets'>,
  groupId: string,
  topics: readonly string[],
): Promise<boolean> => {
  const committed = await admin.fetchOffsets({ groupId, topics: [...topics] })
  return committed.some(({ partitions }) => partitions.some(({ offset }) => Number(offset) >= 0))
}

/** Counts the records in the topics. */
export const countRecords = async (
  admin: Pick<Admin, 'fetchTopicOffsets'>,
  topics: readonly string[],
): Promise<number> => {
  const partitions = await Promise.all(topics.map((topic) => admin.fetchTopicOffsets(topic)))
  return partitions.flat().reduce((sum, { low, high }) => sum + Number(high) - Number(low), 0)
}

/**
 * Commits the end of each partition from outside the group. The group refuses this once it has members, because another worker has
 * started; the result is then false.
 * The consumer's own setting would lose records of a partition added later. The admin client of kafkajs would join the group for the
 * commit, and two workers that did so at once would disturb each other and leave partitions without an offset.
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
    // Read the ids before the ends: if a topic is created again in between, it is read from its beginning.
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
