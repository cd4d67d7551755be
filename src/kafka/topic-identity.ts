// Detects that a topic was deleted and created again under the same name: its offsets begin at 0, and a position in the old one means nothing.
import type { Kafka } from 'kafkajs'
import type { Emit } from '../telemetry/event.js'
import { clusterOf } from './cluster.js'
import { failureOf } from './failure.js'
import { within } from './within.js'
import { topicIdsRequest, topicIdsVersion, type TopicIds } from './wire/topic-ids.js'

export type TopicIdentity = {
  /** Call after every join: positions then come from the group's commits, which were deleted with the topic, so there is nothing to correct. */
  readonly joined: (topics: readonly string[]) => void
  /** The next batch asks for the ids again. */
  readonly recheck: () => void
  /** True once for a topic whose id changed since the last join. */
  readonly wasRecreated: (topic: string) => Promise<boolean>
  readonly close: () => Promise<void>
}

export type ReadTopicIds = (topics: readonly string[]) => Promise<TopicIds>

/** Within this time nobody deletes a topic, creates it again and writes past our position. */
const freshMs = 250

export const topicIdentity = (read: ReadTopicIds, emit: Emit, now: () => number): Omit<TopicIdentity, 'close'> => {
  const known = new Map<string, string>()
  const changed = new Set<string>()
  let watched: readonly string[] = []
  /** Whether all ids were read since the last join. */
  let isComplete = false
  let isFailing = false
  let readAt = -Infinity
  let reading: Promise<void> | undefined
  const check = async (topics: readonly string[], report: boolean): Promise<void> => {
    const askedAt = now() // not when the answer is looked at: a process that was paused meanwhile must ask again
    const ids = await read(topics)
    isFailing = false
    // A topic that is just being created again is missing: the next batch asks again.
    if (topics.every((topic) => ids.has(topic))) {
      readAt = askedAt
      isComplete = true
    }
    for (const [topic, id] of ids) {
      const former = known.get(topic)
      known.set(topic, id)
      if (!report) changed.delete(topic)
      if (former === undefined || former === id) continue
      emit({ event: 'topic_recreated', topic })
      if (report) changed.add(topic)
    }
  }
  /** A check that fails is made again with the next batch; of several in a row the first is reported. */
  const begin = (topics: readonly string[], report: boolean): Promise<void> => {
    const mine = check(topics, report)
      .catch((error: unknown) => {
        if (!isFailing)
          emit({ event: 'kafka_client_warned', about: 'ids of topics', message: failureOf(error).message })
        isFailing = true
      })
      .finally(() => {
        if (reading === mine) reading = undefined
      })
    reading = mine
    return mine
  }
  return {
    joined: (topics) => {
      watched = topics
      isComplete = false
      readAt = -Infinity
      void begin(topics, false)
    },
    recheck: () => {
      readAt = -Infinity
    },
    wasRecreated: async (topic) => {
      if (reading) await reading
      if (now() - readAt > freshMs) await (reading ?? begin(watched, isComplete))
      return changed.delete(topic)
    },
  }
}

/** A broker that does not answer is asked again with the next batch: this one must not wait as long as a request may take. */
const answerMs = 5_000

/** Asks the brokers; those before Kafka 2.8 have no ids, and then nothing is detected. */
export const openTopicIdentity = (kafka: Kafka, emit: Emit, now: () => number): TopicIdentity => {
  const cluster = clusterOf(kafka)
  const ask: ReadTopicIds = async (topics) => {
    const { versions, connectionPool } = await cluster.brokerPool.findConnectedBroker()
    if ((versions?.[3]?.maxVersion ?? 0) < topicIdsVersion) return new Map()
    return connectionPool.send(topicIdsRequest(topics)) as Promise<TopicIds>
  }
  const read: ReadTopicIds = (topics) => within(answerMs, 'the ids of the topics', () => ask(topics))
  return { ...topicIdentity(read, emit, now), close: () => cluster.disconnect() }
}
