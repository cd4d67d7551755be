// Records by the partition they go to.

type Partitioner = (given: { topic: string; partitionMetadata: unknown; message: unknown }) => number

export const groupByPartition = ({
  topic,
  partitionMetadata,
  messages,
  partitioner,
}: {
  readonly topic: string
  readonly partitionMetadata: readonly unknown[]
  readonly messages: readonly unknown[]
  readonly partitioner: Partitioner
}): Record<number, unknown[]> => {
  const groups: Record<number, unknown[]> = {}
  if (partitionMetadata.length === 0) return groups
  for (const message of messages) (groups[partitioner({ topic, partitionMetadata, message })] ??= []).push(message)
  return groups
}
