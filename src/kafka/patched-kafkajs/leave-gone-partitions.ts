// Patches the consumer group of kafkajs to leave and join again when it is assigned a partition that no longer exists.
// This happens when a topic is created again with fewer partitions after the group leader has read its metadata.

type Options = { readonly interval: number }
type ConsumerGroup = {
  /** As of the last join. */
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
     * The leader reassigns partitions only when a member joins or leaves; a member that rejoins gets the same ones. The fetcher of every
     * broker may ask for a join, so the member leaves once for all of them.
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

    /** No heartbeat between leaving and joining, because there is no membership. */
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
