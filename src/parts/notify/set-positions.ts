// Sets the read positions of assigned partitions for at-least-once delivery, after every join and when a topic was recreated.
import type { Assigned } from '../../kafka/fetched.js'
import type { StartingOffsets } from '../../kafka/starting-offsets.js'

type Positions = {
  /** Call after every join with all assigned partitions. */
  readonly joined: (assigned: readonly Assigned[]) => void
  /**
   * Resolves to the id of the topic being read once its positions are set. A new id sets them again; batches fetched before that are stale.
   * Rejects if the broker does not answer; the next call tries again.
   */
  readonly topicIdOf: (now: {
    readonly topic: string
    readonly topicId?: string | undefined
  }) => Promise<string | undefined>
}

export const setPositions = (startingOffsets: StartingOffsets): Positions => {
  let assigned: readonly Assigned[] = []
  /** By topic; cleared at every join. */
  const set = new Map<string, Promise<string | undefined>>()
  const begin = (topic: string): Promise<string | undefined> => {
    const mine = seekAll(topic, () => set.get(topic) === mine)
    set.set(topic, mine)
    mine.catch(() => {
      if (set.get(topic) === mine) set.delete(topic) // callers of topicIdOf handle the error
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
