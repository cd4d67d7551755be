// For a new group that should not read existing records: its offsets are committed once, at the end of each partition.
import type { Admin, Kafka } from 'kafkajs'
import { clusterOf } from './cluster.js'
import { metadataOf } from './commit-metadata.js'
import { failureOf } from './failure.js'
import { readTopicIds } from './topic-identity.js'

/**
 * Not by the consumer's own setting: with that the records of a partition added later are lost. Does nothing if
 * the group has committed anything: another worker has begun. It is one commit from outside the group, which is
 * refused once the group has members; kafkajs's admin would join the group for it, and two workers that do so at the same time
 * disturb each other and leave partitions without an offset.
 */
export const startAtTheEnd = async (
  admin: Admin,
  kafka: Kafka,
  groupId: string,
  topics: readonly string[],
): Promise<void> => {
  const committed = await admin.fetchOffsets({ groupId, topics: [...topics] })
  if (committed.some(({ partitions }) => partitions.some(({ offset }) => Number(offset) >= 0))) return
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
  } catch (error) {
    if (!hasMembers.has(failureOf(error).name)) throw error
  } finally {
    await cluster.disconnect()
  }
}

const hasMembers = new Set(['UNKNOWN_MEMBER_ID', 'ILLEGAL_GENERATION', 'REBALANCE_IN_PROGRESS'])
