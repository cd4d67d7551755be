// A fetched batch of one partition, with the operations on it.
import type { Incoming } from './records.js'

export type Fetched = {
  readonly topic: string
  readonly partition: number
  /** `topic/partition` */
  readonly name: string
  readonly records: readonly Incoming[]
  /** Whether the broker had deleted the next offset, so that the position was reset to the oldest record. */
  readonly isReset: boolean
  /** Number of records behind these. */
  readonly lag: number
  /** Number of joins by this process. After a change the partition may have had another owner. */
  readonly generation: number
  /** False once processing should end: on a stop, after the loss of the partition, or after a change of the position. */
  readonly goesOn: () => boolean
  /** Marks all records up to this one as delivered. With metadata the position is committed by `commit`, and at the end of the batch. */
  readonly resolve: (last: string, metadata?: string) => void
  readonly commit: () => Promise<void>
}

export type InputPartition = { readonly topic: string; readonly partition: number }

export const nameOf = ({ topic, partition }: InputPartition): string => `${topic}/${partition}`

/** A partition assigned by the last join, with the operations to claim it. */
export type Assigned = InputPartition &
  Pick<Fetched, 'generation'> & {
    /** Sets the read position. */
    readonly seek: (offset: string) => void
    /** Stops fetching the partition until it is resumed. */
    readonly pause: () => void
    readonly resume: () => void
    /** Whether this process is still a member since that join. */
    readonly isMember: () => boolean
    /** Resolves when a heartbeat sent after this call was answered in this generation. Throws if this process is no member. */
    readonly proveMembership: () => Promise<void>
  }
