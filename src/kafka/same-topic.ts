// Notices that a topic was deleted and made again under its name: its offsets begin anew, and a position in the former means nothing.
import type { Kafka } from 'kafkajs'
import type { Emit } from '../telemetry/event.js'
import { clusterOf } from './cluster.js'
import { within } from './within.js'
import { topicIdsRequest, topicIdsVersion, type TopicIds } from './wire/topic-ids.js'

export type SameTopic = {
  /** After every join: positions come from the group's commits, which went with their topic, so nothing is to be mended. */
  readonly joined: (topics: readonly string[]) => void
  /** The next batch is worth a look. */
  readonly doubt: () => void
  /** True once for a topic that is another one than when it was last looked at, since the last join. */
  readonly replaced: (topic: string) => Promise<boolean>
  readonly close: () => Promise<void>
}

export type ReadTopicIds = (topics: readonly string[]) => Promise<TopicIds>

/** Within this time nobody deletes a topic, makes it again and writes past our position. */
const freshMs = 250

export const sameTopic = (read: ReadTopicIds, emit: Emit, now: () => number): Omit<SameTopic, 'close'> => {
  const known = new Map<string, string>()
  const changed = new Set<string>()
  let watched: readonly string[] = []
  /** Whether all ids were seen since the last join. */
  let isSeen = false
  let lookedAt = -Infinity
  let looking: Promise<void> | undefined
  const look = async (topics: readonly string[], mend: boolean): Promise<void> => {
    const ids = await read(topics)
    // A topic that is just being made again is not there: the next batch looks for it again.
    if (topics.every((topic) => ids.has(topic))) {
      lookedAt = now()
      isSeen = true
    }
    for (const [topic, id] of ids) {
      const former = known.get(topic)
      known.set(topic, id)
      if (!mend) changed.delete(topic)
      if (former === undefined || former === id) continue
      emit({ event: 'topic_recreated', topic })
      if (mend) changed.add(topic)
    }
  }
  /** A look that fails is made again at the next batch. */
  const begin = (topics: readonly string[], mend: boolean): Promise<void> => {
    const mine = look(topics, mend)
      .catch(() => undefined)
      .finally(() => {
        if (looking === mine) looking = undefined
      })
    looking = mine
    return mine
  }
  return {
    joined: (topics) => {
      watched = topics
      isSeen = false
      lookedAt = -Infinity
      void begin(topics, false)
    },
    doubt: () => {
      lookedAt = -Infinity
    },
    replaced: async (topic) => {
      if (looking) await looking
      if (now() - lookedAt > freshMs) await (looking ?? begin(watched, isSeen))
      return changed.delete(topic)
    },
  }
}

/** A broker that does not say is asked again at the next batch: this one must not wait for it as long as a request may last. */
const answerMs = 5_000

/** Asks the brokers; those before Kafka 2.8 know no ids, and then nothing is noticed. */
export const openSameTopic = (kafka: Kafka, emit: Emit, now: () => number): SameTopic => {
  const cluster = clusterOf(kafka)
  const ask: ReadTopicIds = async (topics) => {
    const { versions, connectionPool } = await cluster.brokerPool.findConnectedBroker()
    if ((versions?.[3]?.maxVersion ?? 0) < topicIdsVersion) return new Map()
    return connectionPool.send(topicIdsRequest(topics)) as Promise<TopicIds>
  }
  const read: ReadTopicIds = (topics) => within(answerMs, 'the ids of the topics', () => ask(topics))
  return { ...sameTopic(read, emit, now), close: () => cluster.disconnect() }
}
