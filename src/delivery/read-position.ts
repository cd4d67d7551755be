// Sets the read position of a partition after a join, from the offset that its group has committed.
import type { Commit } from '../kafka/commit-metadata.js'
import type { Assigned } from '../kafka/fetched.js'
import type { StartingOffsets } from '../kafka/starting-offsets.js'

export type ReadPosition = {
  readonly offset: string
  /** The group's commit; undefined if there is none, or only one for a former topic. */
  readonly commit: Commit | undefined
  /** Id of the topic that the offset belongs to; undefined if the brokers have no topic ids. */
  readonly topicId: string | undefined
  /** The committed position belongs to a former topic of the same name. */
  readonly isFormer: boolean
}

/**
 * Rejects if no broker answers, or if another join happened meanwhile. `readIn` is the id of the topic in which this process has read the
 * partition.
 */
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
