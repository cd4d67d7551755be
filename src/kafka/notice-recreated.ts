// A topic that was created again with as many records as we have read brings nothing and fails nothing at our position. So partitions that bring
// no events are compared with the id of their topic, and read from the beginning if they are in another: with the batch that this brings, their
// delivery notices the new topic and sets the position.
import { nameOf, type Assigned, type InputPartition } from './fetched.js'
import type { Shared } from './process-batch.js'
import type { OpenStartingOffsets } from './starting-offsets.js'
import type { TopicIdentity } from './topic-identity.js'

export type NoticeOptions = Pick<OpenStartingOffsets, 'isReadIn' | 'committedElsewhere'> & {
  readonly identity: Pick<TopicIdentity, 'current'>
  readonly shared: Pick<Shared, 'generation' | 'running'>
}

type NoticeRecreated = {
  /** Call after every join with all partitions that are assigned now: they are read from where the group committed. */
  readonly joined: (assigned: readonly Assigned[]) => void
  /** The position of the partition was set. */
  readonly positioned: (partition: InputPartition) => void
  readonly look: () => Promise<void>
}

export const noticeRecreated = (options: NoticeOptions, isStopped: () => boolean): NoticeRecreated => {
  const { identity, isReadIn, committedElsewhere, shared } = options
  let assigned: readonly Assigned[] = []
  /** By `topic/partition`, those whose position was set since the join: the id of the topic whose beginning was set here, or null. */
  const positions = new Map<string, string | null>()
  /** The id of the topic for which the committed position was looked up and not found to be in another. */
  const committedIn = new WeakMap<Assigned, string>()
  let isLooking = false

  const idleIn = (topic: string): readonly Assigned[] =>
    assigned.filter(
      (one) => one.topic === topic && one.generation === shared.generation && !shared.running.has(nameOf(one)),
    )
  const isPositioned = (one: Assigned): boolean => positions.has(nameOf(one))
  const readAnew = (one: Assigned, id: string): void => {
    one.seek('0')
    positions.set(nameOf(one), id)
  }

  const lookUp = async (topic: string, id: string): Promise<ReadonlySet<Assigned>> => {
    const committed = idleIn(topic).filter((one) => !isPositioned(one) && committedIn.get(one) !== id)
    // With the former topic its commits may be gone, so nobody is asked about what was in it before.
    const unknown = committed.filter((one) => !committedIn.has(one))
    if (unknown.length === 0) return new Set(committed)
    const numbers = unknown.map(({ partition }) => partition)
    const elsewhere = new Set(await committedElsewhere(topic, numbers, id))
    for (const one of unknown) if (!elsewhere.has(one.partition)) committedIn.set(one, id)
    return new Set(committed.filter((one) => committedIn.get(one) !== id))
  }

  const lookAt = async (topic: string): Promise<void> => {
    const id = await identity.current(topic)
    // Brokers that were away answer late: kafkajs may have given up on its consumer by then, which has no position to set.
    if (isStopped() || typeof id !== 'string') return
    for (const one of idleIn(topic))
      if (isPositioned(one) && positions.get(nameOf(one)) !== id && !isReadIn(one, id)) readAnew(one, id)
    const elsewhere = await lookUp(topic, id).catch(() => new Set<Assigned>()) // nobody answers: the next look asks again
    if (isStopped()) return
    // What was positioned meanwhile is read in a topic that may be another again.
    for (const one of idleIn(topic)) if (!isPositioned(one) && elsewhere.has(one)) readAnew(one, id)
  }

  return {
    joined: (all) => {
      assigned = all
      positions.clear()
    },
    positioned: (partition) => void positions.set(nameOf(partition), null),
    look: async () => {
      if (isLooking) return
      isLooking = true
      try {
        for (const topic of new Set(assigned.map((one) => one.topic))) await lookAt(topic)
      } finally {
        isLooking = false
      }
    },
  }
}
