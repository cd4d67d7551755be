// The health of the Kafka consumer, for metrics, health checks and the status page.

export const consumerStates = ['starting', 'running', 'draining', 'stopped', 'failed'] as const

export type PartitionHealth = {
  /** Records still to read when last fetched. */
  readonly lag: number
  readonly progressAt: number
  /** When the chunk in progress was begun. */
  readonly chunkSince?: number
}

export type ConsumerHealth = {
  readonly state: (typeof consumerStates)[number]
  readonly joins: number
  readonly restarts: number
  /** The time it left its group; absent while it is a member. */
  readonly leftAt?: number
  /** The time of the last answer from a broker; set only when that is too long ago. */
  readonly unreachableSince?: number
  /** The partitions assigned to this process, by `topic/partition`. */
  readonly partitions: Readonly<Record<string, PartitionHealth>>
}
