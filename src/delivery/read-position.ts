// Where a partition is read from after a join: the position that its group has committed, set for the consumer.
import type { Commit } from '../kafka/commit-metadata.js'
import type { Assigned } from '../kafka/fetched.js'
import type { StartingOffsets } from '../kafka/starting-offsets.js'

export type ReadPosition = {
  readonly offset: string
  /** What the group has committed; undefined: nothing, or a position in a former topic. */
  readonly commit: Commit | undefined
  /** Of the topic that it is in; undefined where brokers have no ids. */
  readonly topicId: string | undefined
  /** The position was one in a former topic of the same name. */
  readonly isFormer: boolean
}

/** Rejects if nobody answers, or if there was another join meanwhile. `readIn`: the id of the topic that this process has read the partition in. */
export const readPosition = async (
  assigned: Assigned,
  startingOffsets: StartingOffsets,
  readIn: string | undefined,
): Promise<ReadPosition> => {
  const { topic, partition } = assigned
  const { topicId, offsets, committed, former } = await startingOffsets(topic, [partition], readIn)
  if (!assigned.isMember()) throw new Error('joined again since')
  const offset = offsets.get(partition) ?? '0'
  assigned.seek(offset)
  return { offset, commit: committed.get(partition), topicId, isFormer: former.has(partition) }
}
