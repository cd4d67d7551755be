// At-least-once: sets the read position of a task after each join, and detects whether another process owned the partition in between.
import { areSameCommit, writeIn } from '../kafka/commit-metadata.js'
import type { Assigned } from '../kafka/fetched.js'
import type { DeliveryOptions, PartitionEvents } from './delivery.js'
import type { Ending } from './task-states.js'
import { readPosition, type ReadPosition } from './read-position.js'

/** The position set after a join. */
type Position = Pick<Assigned, 'generation'> & {
  /** Id of the topic that the position belongs to; undefined if the brokers have no topic ids. */
  readonly topicId: string | undefined
}

type TaskPosition = {
  /** Undefined until it is set. */
  readonly current: () => Position | undefined
  /** Sets the position. Rejects if no broker answers, or if another process has committed since the last call. */
  readonly set: (assigned: Assigned) => Promise<ReadPosition>
}

type TaskPositionOptions = Pick<DeliveryOptions, 'startingOffsets'> &
  Pick<PartitionEvents, 'takenOver' | 'readIn'> & {
    /** Id of this process, written into its commits. */
    readonly owner: string
  }

export const openPosition = ({ startingOffsets, owner, takenOver, readIn }: TaskPositionOptions): TaskPosition => {
  let current: Position | undefined
  let known: ReadPosition | undefined
  return {
    current: () => current,
    set: async (assigned) => {
      const { topic, partition, generation } = assigned
      const found = await readPosition(assigned, startingOffsets, known?.topicId ?? readIn)
      const ending = known && outdated(owner, known, found)
      known = found
      if (ending) {
        takenOver(assigned, ending)
        throw new Error(`${topic}/${partition} was another process's in between, or another topic's`)
      }
      current = { generation, topicId: found.topicId }
      return found
    },
  }
}

/** Why local knowledge is stale, if it is: the topic was created again, or another process has committed in between. */
const outdated = (owner: string, before: ReadPosition, { commit, topicId }: ReadPosition): Ending | undefined => {
  if (before.topicId !== topicId) return 'recreated'
  const isOnlyOurs = areSameCommit(commit, before.commit) || writeIn(commit?.metadata)?.owner === owner
  return isOnlyOurs ? undefined : 'lost'
}
