// The state of the Kafka runner as plain values, for the status page, the health check and the tests.
import type { ConsumerHealth, PartitionHealth } from '../domain/consumer-health.js'
import type { BrokerWatch } from './broker-watch.js'

export type KafkaHealth = ConsumerHealth & {
  readonly delivered: number
  /** Time of the last progress or, before any, of the start. */
  readonly progressAt: number
  /** Positions are the offset after the last one delivered by this process. */
  readonly partitions: Readonly<Record<string, PartitionPosition>>
}

type PartitionPosition = PartitionHealth & { readonly position: number }

/** Progress reports of one assigned partition, shown from its first chunk until it is closed. */
export type PartitionProgress = {
  /** `clock` measures the time limit of the chunk. */
  readonly chunkBegan: (clock: () => number) => void
  readonly chunkEnded: () => void
  readonly moved: (events: number, position: number, lag: number) => void
  readonly close: () => void
}

export type HealthRecord = {
  readonly read: () => KafkaHealth
  readonly setState: (state: KafkaHealth['state']) => void
  readonly joined: () => void
  /** The consumer has ended. There is no membership until the next one joins. */
  readonly left: () => void
  readonly restarted: () => void
  /** Adds an assigned partition. */
  readonly track: (name: string) => PartitionProgress
}

export const recordHealth = (now: () => number, brokers: Pick<BrokerWatch, 'unreachableSince'>): HealthRecord => {
  let state: KafkaHealth['state'] = 'starting'
  let delivered = 0
  let joins = 0
  let restarts = 0
  let progressAt = now()
  let leftAt: number | undefined
  /** One function per open partition, which returns no entry before its first chunk. */
  const open = new Set<() => readonly (readonly [string, PartitionPosition])[]>()
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
        partitions: Object.fromEntries([...open].flatMap((show) => show())),
      }
    },
    setState: (next) => {
      state = next
    },
    joined: () => {
      joins++
      leftAt = undefined
    },
    left: () => {
      leftAt = now()
    },
    restarted: () => {
      restarts++
    },
    track: (name) => {
      let at: Omit<PartitionPosition, 'chunkSince'> | undefined
      let chunk: { readonly clock: () => number; readonly began: number } | undefined
      const show = (): readonly (readonly [string, PartitionPosition])[] => {
        if (!at) return []
        return [[name, chunk ? { ...at, chunkSince: now() - (chunk.clock() - chunk.began) } : at]]
      }
      open.add(show)
      return {
        chunkBegan: (clock) => {
          chunk = { clock, began: clock() }
          at ??= { position: 0, lag: 0, progressAt: now() }
        },
        chunkEnded: () => {
          chunk = undefined
        },
        moved: (events, position, lag) => {
          delivered += events
          progressAt = now()
          at = { position, lag, progressAt }
        },
        close: () => void open.delete(show),
      }
    },
  }
}
