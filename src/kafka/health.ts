// What the Kafka service is doing, as plain values: for the status page, the health check and the tests.

export type PartitionHealth = {
  /** The offset after the last one delivered by this process. */
  readonly position: number
  /** Records still to read when last looked. */
  readonly lag: number
  readonly progressAt: number
  /** When the chunk now in the works was begun. */
  readonly chunkSince?: number
}

export type KafkaHealth = {
  readonly state: 'starting' | 'running' | 'draining' | 'stopped' | 'failed'
  readonly delivered: number
  readonly joins: number
  readonly restarts: number
  /** When an offset last moved, or the service was started. */
  readonly progressAt: number
  readonly partitions: Readonly<Record<string, PartitionHealth>>
}

export type HealthRecord = {
  readonly read: () => KafkaHealth
  readonly turn: (state: KafkaHealth['state']) => void
  readonly joined: (assigned: readonly string[]) => void
  readonly restarted: () => void
  readonly chunkBegan: (name: string) => void
  readonly chunkEnded: (name: string) => void
  readonly moved: (name: string, events: number, position: number, lag: number) => void
  readonly positionOf: (name: string) => number | undefined
}

export const recordHealth = (now: () => number): HealthRecord => {
  let state: KafkaHealth['state'] = 'starting'
  let delivered = 0
  let joins = 0
  let restarts = 0
  let progressAt = now()
  const partitions = new Map<string, PartitionHealth>()
  const change = (name: string, changed: Partial<PartitionHealth>): void => {
    partitions.set(name, { ...(partitions.get(name) ?? { position: 0, lag: 0, progressAt: now() }), ...changed })
  }
  return {
    read: () => ({ state, delivered, joins, restarts, progressAt, partitions: Object.fromEntries(partitions) }),
    turn: (next) => {
      state = next
    },
    joined: (assigned) => {
      joins++
      for (const name of partitions.keys()) if (!assigned.includes(name)) partitions.delete(name)
    },
    restarted: () => {
      restarts++
    },
    chunkBegan: (name) => change(name, { chunkSince: now() }),
    chunkEnded: (name) => {
      const { position = 0, lag = 0, progressAt: at = now() } = partitions.get(name) ?? {}
      partitions.set(name, { position, lag, progressAt: at })
    },
    moved: (name, events, position, lag) => {
      delivered += events
      progressAt = now()
      change(name, { position, lag, progressAt })
    },
    positionOf: (name) => partitions.get(name)?.position,
  }
}
