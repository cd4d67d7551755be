// Patches the initial offsets of a kafkajs consumer to report a partition that no broker knows.
// Such a partition was assigned by old metadata, before its topic was created again with fewer partitions. The original fails with a
// TypeError, which ends the process.

type PartitionOffset = { readonly partition: number; readonly offset: string }
type TopicOffsets = { readonly topic: string; readonly partitions: readonly PartitionOffset[] }
type Initialize = (committed: readonly TopicOffsets[], oldest: readonly TopicOffsets[]) => TopicOffsets[]

/**
 * Returns the same result as the original, unless a partition has no oldest offset: then its error makes the group refresh the metadata
 * and join again.
 */
export const refuseMissingPartition =
  (original: unknown): Initialize =>
  (committed, oldest) => {
    const result = (original as Initialize)(committed, [...oldest, ...committed.filter(isMissingFrom(oldest))])
    for (const { topic, partitions } of result)
      for (const { partition, offset } of partitions)
        // Neither the group nor a broker has an offset.
        if (!(Number(offset) >= 0)) throw new MissingPartition(topic, partition)
    return result
  }

const isMissingFrom =
  (oldest: readonly TopicOffsets[]) =>
  ({ topic }: TopicOffsets): boolean =>
    oldest.every((known) => known.topic !== topic)

class MissingPartition extends Error {
  /** After an error of this type the consumer refreshes its metadata and joins again. */
  readonly type = 'UNKNOWN_TOPIC_OR_PARTITION'
  constructor(topic: string, partition: number) {
    super(`partition ${partition} of topic ${topic} is assigned, and no broker knows it`)
  }
}
