// Where a consumer begins to read partitions that nothing was committed for. One that no broker knows was assigned by metadata from before its topic
// was created again with fewer partitions: kafkajs fails with a TypeError then, and the process ends.

type PartitionOffset = { readonly partition: number; readonly offset: string }
type TopicOffsets = { readonly topic: string; readonly partitions: readonly PartitionOffset[] }
type Initialize = (committed: readonly TopicOffsets[], oldest: readonly TopicOffsets[]) => TopicOffsets[]

/** The same result as the original's, but for a partition that is missing among the oldest offsets: the group is told to fetch the metadata and join again. */
export const refuseMissingPartition =
  (original: unknown): Initialize =>
  (committed, oldest) => {
    const result = (original as Initialize)(committed, [...oldest, ...committed.filter(isMissingFrom(oldest))])
    for (const { topic, partitions } of result)
      for (const { partition, offset } of partitions)
        // What neither the group nor a broker has an offset for.
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
