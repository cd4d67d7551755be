// The task of an assigned partition, as those see it who keep a kind of its state.
import type { InputPartition } from '../kafka/fetched.js'
import type { PartitionDelivery } from './delivery.js'

export type Task = InputPartition &
  Pick<PartitionDelivery, 'write' | 'claim'> & {
    /** `topic/partition`: for the keys of records, and for the log. */
    readonly name: string
    /** Aborted when the partition is lost, or this process ends. */
    readonly signal: AbortSignal
  }
