// At least once: sets where the assigned partitions are read, after every join and when a topic turns out to be another one.
import type { Assigned } from '../../kafka/fetched.js'
import type { StartingOffsets } from '../../kafka/starting-offsets.js'

type Positions = {
  /** Call after every join with all partitions that are assigned now. */
  readonly joined: (assigned: readonly Assigned[]) => void
  /**
   * The id of the topic that is read, once its positions are set: anew if it has another id now, and a batch that was fetched before that is stale then.
   * Throws if nobody answers; the next call tries again.
   */
  readonly topicIdOf: (now: {
    readonly topic: string
    readonly topicId?: string | undefined
  }) => Promise<string | undefined>
}

export const setPositions = (startingOffsets: StartingOffsets): Positions => {
  let assigned: readonly Assigned[] = []
  /** By topic, since the last join. */
  const set = new Map<string, Promise<string | undefined>>()
  const begin = (topic: string): Promise<string | undefined> => {
    const mine = seekAll(topic, () => set.get(topic) === mine)
    set.set(topic, mine)
    mine.catch(() => {
      if (set.get(topic) === mine) set.delete(topic) // whoever waits for it handles the failure
    })
    return mine
  }
  const seekAll = async (topic: string, isWanted: () => boolean): Promise<string | undefined> => {
    const ours = assigned.filter((one) => one.topic === topic)
    const { topicId, offsets } = await startingOffsets(
      topic,
      ours.map(({ partition }) => partition),
    )
    if (isWanted()) for (const { partition, seek } of ours) seek(offsets.get(partition) ?? '0')
    return topicId
  }
  return {
    joined: (all) => {
      assigned = all
      set.clear()
      for (const topic of new Set(all.map((one) => one.topic))) void begin(topic)
    },
    topicIdOf: async ({ topic, topicId }) => {
      const current = set.get(topic) ?? begin(topic)
      const id = await current
      if (topicId === undefined || topicId === id) return id
      const other = set.get(topic)
      return other === undefined || other === current ? begin(topic) : other
    },
  }
}
