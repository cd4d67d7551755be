// At least once: where a task reads on after each join, and whether another process has had its partition since the last one.
import { areSameCommit, writeIn } from '../kafka/commit-metadata.js'
import type { Assigned } from '../kafka/fetched.js'
import type { DeliveryOptions, PartitionEvents } from './delivery.js'
import type { Ending } from './task-states.js'
import { readPosition, type ReadPosition } from './read-position.js'

/** The position as it was set after a join. */
type Position = Pick<Assigned, 'generation'> & {
  /** Of the topic that it is in; undefined where brokers have no ids. */
  readonly topicId: string | undefined
}

type TaskPosition = {
  /** Undefined until it is set. */
  readonly current: () => Position | undefined
  /** Sets it. Rejects if nobody answers, or if another process has committed since the last time. */
  readonly set: (assigned: Assigned) => Promise<ReadPosition>
}

type TaskPositionOptions = Pick<DeliveryOptions, 'startingOffsets'> &
  Pick<PartitionEvents, 'takenOver' | 'readIn'> & {
    /** Named by the commits of this process. */
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

/** Why what is known is out of date, if it is: the topic was created again, or somebody else has committed in between. */
const outdated = (owner: string, before: ReadPosition, { commit, topicId }: ReadPosition): Ending | undefined => {
  if (before.topicId !== topicId) return 'recreated'
  const isOnlyOurs = areSameCommit(commit, before.commit) || writeIn(commit?.metadata)?.owner === owner
  return isOnlyOurs ? undefined : 'lost'
}
