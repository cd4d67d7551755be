// Patches the runner and the consumer group of kafkajs to handle each fetched batch once.
// kafkajs has one fetcher per broker. When the leader of a partition moves while a batch is handled, the fetcher of the new leader
// requests the same offset again, without a pause, until the batch is complete. An answer that arrives just after that is handled a
// second time.

type Batch = { readonly topic: string; readonly partition: number; readonly fetchedOffset: string }
type ConsumerGroup = {
  readonly offsetManager: {
    readonly nextOffset: (topic: string, partition: number) => { readonly toString: () => string }
  }
  assigned(): readonly TopicPartitions[]
  filterPartitionsByNode(nodeId: unknown, assigned: readonly TopicPartitions[]): readonly TopicPartitions[]
}
type TopicPartitions = { readonly topic: string; readonly partitions: readonly number[] }
type Runner = {
  readonly consumerGroup: ConsumerGroup & { readonly inProgress: Set<string> }
  handleBatch(batch: Batch): Promise<void>
}
// TypeScript requires this form of a class that is extended without being known.
type ConsumerGroupClass = new (...given: any[]) => ConsumerGroup // eslint-disable-line @typescript-eslint/no-explicit-any
type RunnerClass = new (...given: any[]) => Runner // eslint-disable-line @typescript-eslint/no-explicit-any

const nameOf = (topic: string, partition: number): string => `${topic}/${partition}`

/** Skips partitions in progress when fetching, because their next offset is not known yet. */
export const fetchWhenHandled = (original: unknown): unknown =>
  class extends (original as ConsumerGroupClass) {
    readonly inProgress = new Set<string>()

    override filterPartitionsByNode(nodeId: unknown, assigned: readonly TopicPartitions[]): readonly TopicPartitions[] {
      return super.filterPartitionsByNode(nodeId, assigned).map(({ topic, partitions }) => ({
        topic,
        partitions: partitions.filter((partition) => !this.inProgress.has(nameOf(topic, partition))),
      }))
    }
  }

/**
 * Drops a fetch that was sent before the position moved; the next one starts at the new position. Also drops a fetch sent before the
 * partition was lost, because kafkajs has no position for it any more and would throw.
 */
export const handleOnce = (original: unknown): unknown =>
  class extends (original as RunnerClass) {
    override async handleBatch(batch: Batch): Promise<void> {
      const { topic, partition, fetchedOffset } = batch
      const { offsetManager, inProgress } = this.consumerGroup
      const isOurs = this.consumerGroup
        .assigned()
        .some((one) => one.topic === topic && one.partitions.includes(partition))
      if (!isOurs || offsetManager.nextOffset(topic, partition).toString() !== fetchedOffset) return
      const name = nameOf(topic, partition)
      inProgress.add(name)
      try {
        await super.handleBatch(batch)
      } finally {
        inProgress.delete(name)
      }
    }
  }
