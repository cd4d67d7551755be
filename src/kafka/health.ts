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

/** What one assigned partition tells; it is shown from its first chunk until it is closed. */
export type PartitionProgress = {
  /** `clock` is the one that the chunk's limit is counted on. */
  readonly chunkBegan: (clock: () => number) => void
  readonly chunkEnded: () => void
  readonly moved: (events: number, position: number, lag: number) => void
  readonly close: () => void
}

export type HealthRecord = {
  readonly read: () => KafkaHealth
  readonly setState: (state: KafkaHealth['state']) => void
  readonly joined: () => void
  /** The consumer has ended, and is no member any more until the next one joins. */
  readonly left: () => void
  readonly restarted: () => void
  /** Shows a partition that is assigned now. */
  readonly track: (name: string) => PartitionProgress
}

export const recordHealth = (now: () => number, brokers: Pick<BrokerWatch, 'unreachableSince'>): HealthRecord => {
  let state: KafkaHealth['state'] = 'starting'
  let delivered = 0
  let joins = 0
  let restarts = 0
  let progressAt = now()
  let leftAt: number | undefined
  /** Of each open partition what is shown, with its name; nothing before its first chunk. */
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
