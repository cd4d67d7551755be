// Commits how far a batch is delivered, with metadata, which kafkajs's own commits do not have.
import type { EachBatchPayload } from 'kafkajs'
import type { Fetched } from './fetched.js'

export type CommitDelivered = {
  readonly upTo: Fetched['resolve']
  /** What was not committed yet. Throws as kafkajs's own commit does: the member has to join again, or the request is repeated. */
  readonly commit: () => Promise<void>
}

/** Nothing is resolved or committed for a position that was changed meanwhile, or if the partition may be another member's. */
export const commitDelivered = (
  payload: Pick<EachBatchPayload, 'batch' | 'resolveOffset' | 'commitOffsetsIfNecessary' | 'isStale'>,
  isSameGeneration: () => boolean,
): CommitDelivered => {
  const { batch } = payload
  const { topic, partition } = batch
  let waiting: { readonly partition: number; readonly offset: string; readonly metadata: string } | undefined
  const isWanted = (): boolean => isSameGeneration() && !payload.isStale()
  /** After the last record there may be control records, which never come out. */
  const after = (last: string): string =>
    String(Number(last === batch.messages.at(-1)?.offset ? batch.lastOffset() : last) + 1)
  return {
    upTo: (last, metadata) => {
      if (!isWanted()) return
      payload.resolveOffset(last)
      if (metadata !== undefined) waiting = { partition, offset: after(last), metadata }
    },
    commit: async () => {
      const committing = waiting
      waiting = undefined
      // Given explicitly they are always committed, and unlike the consumer's own `commitOffsets` also while it stops.
      if (committing && isWanted())
        await payload.commitOffsetsIfNecessary({ topics: [{ topic, partitions: [committing] }] })
    },
  }
}
