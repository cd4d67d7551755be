// Commits the delivered part of a batch with metadata, which kafkajs's own commits lack.
import type { EachBatchPayload } from 'kafkajs'
import type { Fetched } from './fetched.js'

export type CommitDelivered = {
  readonly upTo: Fetched['resolve']
  /** Commits the remaining position. Throws like kafkajs's own commit, after which the member joins again or repeats the request. */
  readonly commit: () => Promise<void>
}

/** Skips positions that were changed meanwhile, or whose partition may belong to another member. */
export const commitDelivered = (
  payload: Pick<EachBatchPayload, 'batch' | 'resolveOffset' | 'commitOffsetsIfNecessary' | 'isStale'>,
  isSameGeneration: () => boolean,
): CommitDelivered => {
  const { batch } = payload
  const { topic, partition } = batch
  let waiting: { readonly partition: number; readonly offset: string; readonly metadata: string } | undefined
  const isWanted = (): boolean => isSameGeneration() && !payload.isStale()
  /** Control records may follow the last record. They are never delivered, so the position skips them. */
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
      // Explicit offsets are always committed, even while the consumer stops, unlike its own `commitOffsets`.
      if (committing && isWanted())
        await payload.commitOffsetsIfNecessary({ topics: [{ topic, partitions: [committing] }] })
    },
  }
}
