// The task of an assigned partition, as the keepers of its state see it.
import type { InputPartition } from '../kafka/fetched.js'
import type { ReadAgain } from '../kafka/read-again.js'
import type { Claimed, PartitionDelivery } from './delivery.js'

export type Task = InputPartition &
  Pick<PartitionDelivery, 'write'> & {
    /** `topic/partition`, used in record keys and in the log. */
    readonly name: string
    /**
     * Resolves with the last claim as soon as there is one. From then on no other process writes for the partition. Rejects once the task
     * is closed.
     */
    readonly claim: () => Promise<Claimed>
    /**
     * Reads records of the input topic by their offsets, in ascending order. Rejects if no broker answers, or if the topic was created
     * again, which is about to close the task.
     */
    readonly readAgain: (offsets: readonly number[], maxBytes: number) => ReturnType<ReadAgain['read']>
    /** Aborted when the partition is lost, or when the process ends. */
    readonly signal: AbortSignal
  }
