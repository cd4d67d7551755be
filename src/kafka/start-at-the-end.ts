// A new group that shall not read what is already there: its offsets are committed at the end, once.
import type { Admin } from 'kafkajs'

/**
 * Not by the consumer's own setting: with that one the records of a partition added later are lost. Does nothing as
 * soon as the group has committed anything, or has members: then somebody else has begun.
 */
export const startAtTheEnd = async (admin: Admin, groupId: string, topics: readonly string[]): Promise<void> => {
  const committed = await admin.fetchOffsets({ groupId, topics: [...topics] })
  if (committed.some(({ partitions }) => partitions.some(({ offset }) => Number(offset) >= 0))) return
  const { groups } = await admin.describeGroups([groupId])
  if (groups.some(({ members }) => members.length > 0)) return
  for (const topic of topics) {
    const ends = await admin.fetchTopicOffsets(topic)
    await admin.setOffsets({
      groupId,
      topic,
      partitions: ends.map(({ partition, high }) => ({ partition, offset: high })),
    })
  }
}
