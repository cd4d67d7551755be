// What the Kafka runner is doing, as plain values: for the status page, the health check and the tests.
import type { ConsumerHealth, PartitionHealth } from '../domain/consumer-health.js'
import type { BrokerWatch } from './broker-watch.js'

export type KafkaHealth = ConsumerHealth & {
  readonly delivered: number
  /** When an offset last moved, or the runner was started. */
  readonly progressAt: number
  /** With the offset after the last one that this process delivered. */
  readonly partitions: Readonly<Record<string, PartitionPosition>>
}

type PartitionPosition = PartitionHealth & { readonly position: number }

export type HealthRecord = {
  readonly read: () => KafkaHealth
  readonly setState: (state: KafkaHealth['state']) => void
  readonly joined: (assigned: readonly string[]) => void
  /** The consumer has ended, and is no member any more until the next one joins. */
  readonly left: () => void
  readonly restarted: () => void
  /** `clock` is the one that the chunk's limit is counted on. */
  readonly chunkBegan: (name: string, clock: () => number) => void
  readonly chunkEnded: (name: string) => void
  readonly moved: (name: string, events: number, position: number, lag: number) => void
}

type ChunkTimer = { readonly clock: () => number; readonly began: number }

export const recordHealth = (now: () => number, brokers: Pick<BrokerWatch, 'unreachableSince'>): HealthRecord => {
  let state: KafkaHealth['state'] = 'starting'
  let delivered = 0
  let joins = 0
  let restarts = 0
  let progressAt = now()
  let leftAt: number | undefined
  const partitions = new Map<string, Omit<PartitionPosition, 'chunkSince'>>()
  const chunks = new Map<string, ChunkTimer>()
  const shown = (name: string, partition: Omit<PartitionPosition, 'chunkSince'>): PartitionPosition => {
    const chunk = chunks.get(name)
    return chunk ? { ...partition, chunkSince: now() - (chunk.clock() - chunk.began) } : partition
  }
  return {
    read: () => {
      const unreachableSince = brokers.unreachableSince()
      return {
        state,
        delivered,
        joins,
        restarts,
        progressAt,
        ...(leftAt === undefined ? {} : { leftAt }),
        ...(unreachableSince === undefined ? {} : { unreachableSince }),
        partitions: Object.fromEntries(Array.from(partitions, ([name, one]) => [name, shown(name, one)])),
      }
    },
    setState: (next) => {
      state = next
    },
    joined: (assigned) => {
      joins++
      leftAt = undefined
      for (const name of partitions.keys()) if (!assigned.includes(name)) partitions.delete(name)
    },
    left: () => {
      leftAt = now()
    },
    restarted: () => {
      restarts++
    },
    chunkBegan: (name, clock) => {
      chunks.set(name, { clock, began: clock() })
      if (!partitions.has(name)) partitions.set(name, { position: 0, lag: 0, progressAt: now() })
    },
    chunkEnded: (name) => void chunks.delete(name),
    moved: (name, events, position, lag) => {
      delivered += events
      progressAt = now()
      partitions.set(name, { position, lag, progressAt })
    },
  }
}
