// The task of an assigned partition, as those see it who keep a kind of its state.
import type { InputPartition } from '../kafka/fetched.js'
import type { ReadAgain } from '../kafka/read-again.js'
import type { Claimed, PartitionDelivery } from './delivery.js'

export type Task = InputPartition &
  Pick<PartitionDelivery, 'write'> & {
    /** `topic/partition`: for the keys of records, and for the log. */
    readonly name: string
    /** Resolves with what the last claim showed, as soon as there is one: nobody else writes on behalf of the partition then. Rejects once the task is closed. */
    readonly claim: () => Promise<Claimed>
    /** Records of its topic by their offsets, in ascending order. Rejects if nobody answers, or if the topic is another one by now: then the task is about to be closed. */
    readonly readAgain: (offsets: readonly number[], maxBytes: number) => ReturnType<ReadAgain['read']>
    /** Aborted when the partition is lost, or this process ends. */
    readonly signal: AbortSignal
  }
