// The consumer group of kafkajs, which leaves and joins anew when it is given a partition that is gone: the topic was created again with fewer
// of them after the leader of the group had looked at it.

type Options = { readonly interval: number }
type ConsumerGroup = {
  /** As they are known since the last join. */
  readonly partitionsPerSubscribedTopic: ReadonlyMap<string, readonly number[]>
  assigned(): readonly { readonly topic: string; readonly partitions: readonly number[] }[]
  heartbeat(options: Options): Promise<void>
  joinAndSync(): Promise<void>
  leave(): Promise<void>
}
// TypeScript requires this form of a class that is extended without being known.
type ConsumerGroupClass = new (...given: any[]) => ConsumerGroup // eslint-disable-line @typescript-eslint/no-explicit-any

export const leaveGonePartitions = (original: unknown): unknown =>
  class extends (original as ConsumerGroupClass) {
    private joiningAnew: Promise<void> | undefined

    /**
     * The leader assigns partitions anew when a member comes or goes; one that joins again as the same member gets the same partitions. Every
     * broker that is read from may ask for a join: the member leaves once for all of them.
     */
    override async joinAndSync(): Promise<void> {
      await super.joinAndSync()
      if (this.hasGonePartition())
        await (this.joiningAnew ??= this.leave()
          .then(() => super.joinAndSync())
          .finally(() => {
            this.joiningAnew = undefined
          }))
    }

    /** Between the two it is no member. */
    override async heartbeat(options: Options): Promise<void> {
      if (!this.joiningAnew) await super.heartbeat(options)
    }

    private hasGonePartition(): boolean {
      return this.assigned().some(({ topic, partitions }) => {
        const known = this.partitionsPerSubscribedTopic.get(topic)
        return known !== undefined && partitions.some((partition) => !known.includes(partition))
      })
    }
  }
