// A reader of topics that all partitions of this process share: opened when it is first needed, and replaced after a failure.
import type { Kafka } from './client.js'
import { openTopicReader, type TopicReader } from './topic-reader.js'

export type SharedReader = {
  readonly open: () => Promise<TopicReader>
  /** After a failure, and at the end. */
  readonly discard: () => void
}

export const shareReader = (connect: () => Kafka): SharedReader => {
  let reader: Promise<TopicReader> | undefined
  return {
    open: () => (reader ??= openTopicReader(connect())),
    discard: () => {
      const old = reader
      reader = undefined
      old?.then((open) => open.close()).catch(() => undefined) // it is not used again, however that ends
    },
  }
}
