// Reads records of a partition again by their offsets, provided that the topic still has the given id.
import type { Kafka } from 'kafkajs'
import type { InputPartition } from './fetched.js'
import { shareReader } from './shared-reader.js'
import type { TopicIdentity } from './topic-identity.js'
import { readByOffset } from './topic-reader.js'

export type ReadAgain = {
  /**
   * `offsets` in ascending order. Throws if no broker answers, or if the topic has another id by now, because the offsets then belong to
   * other records.
   */
  readonly read: (
    partition: InputPartition,
    topicId: string | undefined,
    offsets: readonly number[],
    maxBytes: number,
  ) => ReturnType<typeof readByOffset>
  readonly close: () => Promise<void>
}

export const openReadAgain = (connect: () => Kafka, identity: Pick<TopicIdentity, 'askEach'>): ReadAgain => {
  const reader = shareReader(connect)
  return {
    read: async (partition, topicId, offsets, maxBytes) => {
      try {
        const read = await readByOffset(await reader.open(), partition, offsets, maxBytes)
        // Check after the read: the topic may have been created again in between.
        if (topicId !== undefined && (await identity.askEach(partition.topic)) !== topicId)
          throw new Error(`topic ${partition.topic} was created again`)
        return read
      } catch (error) {
        reader.discard()
        throw error
      }
    },
    close: () => {
      reader.discard()
      return Promise.resolve()
    },
  }
}
