// A fetched batch of one partition as the consumer passes it on, with what may be done about it.
import type { Incoming } from './records.js'

export type Fetched = {
  readonly topic: string
  readonly partition: number
  /** `topic/partition` */
  readonly name: string
  readonly records: readonly Incoming[]
  /** The broker no longer had what comes next, so the position was set to the oldest record. */
  readonly isReset: boolean
  /** How many records are still to read after these. */
  readonly lag: number
  /** Counts the joins of this process; another number means that the partition may have had another owner. */
  readonly generation: number
  /** False as soon as the batch should not be processed further: stopping, lost to another member, or the position was changed. */
  readonly goesOn: () => boolean
  /** Everything up to this record is delivered. With metadata it is committed: by `commit`, and at the end of the batch. */
  readonly resolve: (last: string, metadata?: string) => void
  readonly commit: () => Promise<void>
}

export type InputPartition = { readonly topic: string; readonly partition: number }

export const nameOf = ({ topic, partition }: InputPartition): string => `${topic}/${partition}`

/** A partition that is assigned to this process since its last join, and what is needed to claim it. */
export type Assigned = InputPartition &
  Pick<Fetched, 'generation'> & {
    /** Sets where it is read from. */
    readonly seek: (offset: string) => void
    /** Nothing of it is fetched until it is resumed. */
    readonly pause: () => void
    readonly resume: () => void
    /** Whether this process is still a member since that join. */
    readonly isMember: () => boolean
    /** Resolves when a heartbeat that was sent after the call was answered in this generation; throws if this process is no member. */
    readonly proveMembership: () => Promise<void>
  }
