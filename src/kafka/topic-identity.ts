// The ids of the input topics: a topic that was deleted and created again has a new id, and old positions are meaningless in it.
import type { Kafka } from 'kafkajs'
import type { Emit } from '../telemetry/event.js'
import { clusterOf, type Cluster } from './cluster.js'
import { failureOf } from './failure.js'
import { answeredWithin } from './within.js'
import { topicIdsRequest, topicIdsVersion, type TopicIds } from './wire/topic-ids.js'

export type TopicIdentity = {
  /** Call after every join with all input topics. */
  readonly joined: (topics: readonly string[]) => void
  /** Marks the ids as doubtful: the next batch asks all brokers, and batches are left until they agree. */
  readonly recheck: () => void
  /**
   * The last known id, refreshed every quarter of a second. Undefined: the topic has no known id. Null: the broker that was asked did not
   * answer or does not know the topic in its present form, so another one may serve a topic that was just created again.
   */
  readonly current: (topic: string) => Promise<string | null | undefined>
  /**
   * The current id, confirmed by all brokers that answer. Undefined: they have no topic ids. Throws if no broker answers, if the topic
   * does not exist, or if they disagree: one of them may still serve the former topic under this name.
   */
  readonly askEach: (topic: string) => Promise<string | undefined>
  readonly close: () => Promise<void>
}

/** Undefined: the brokers have no topic ids. */
type ReadTopicIds = (topics: readonly string[]) => Promise<TopicIds | undefined>

/** The answer of each broker that answers. */
type ReadAtEach = (topics: readonly string[]) => Promise<readonly TopicIds[]>

/** Too short a time to delete a topic, create it again and write past our position. */
const freshMs = 250

export const topicIdentity = (
  read: ReadTopicIds,
  readAtEach: ReadAtEach,
  emit: Emit,
  now: () => number,
): Omit<TopicIdentity, 'close'> => {
  const known = new Map<string, string | null>()
  const last = new Map<string, string>()
  /** Former ids, which a broker that has not heard of the change still reports. */
  const former = new Set<string>()
  let watched: readonly string[] = []
  let isFailing = false
  let doubts = 0
  let settledDoubts = 0
  let readAt = -Infinity
  let asked = 0
  let answered = 0
  let reading: Promise<unknown> | undefined
  const askOne = async (): Promise<void> => {
    const turn = ++asked
    const askedAt = now() // time of the request, not of the answer: a process that was suspended meanwhile must ask again
    const found = await read(watched).catch(unanswered)
    isFailing = false
    const ids = found && new Map([...found].filter(([, id]) => !former.has(id)))
    if (turn < answered) return
    answered = turn
    // A topic that is being created again is missing: the next batch asks again.
    if (watched.every((topic) => ids?.has(topic))) readAt = askedAt
    for (const topic of watched) {
      const id = ids?.get(topic)
      if (id !== undefined) take(topic, id)
      else if (ids) known.set(topic, null)
    }
  }
  const take = (topic: string, id: string): void => {
    const before = last.get(topic)
    if (before !== undefined && before !== id) former.add(before)
    last.set(topic, id)
    known.set(topic, id)
  }
  /** A topic that had an id may have been created again. */
  const unanswered = (error: unknown): never => {
    for (const topic of known.keys()) known.set(topic, null)
    throw error
  }
  /** Of consecutive failures only the first is reported. */
  const failed = (error: unknown): void => {
    if (!isFailing) emit({ event: 'kafka_client_warned', about: 'ids of topics', message: failureOf(error).message })
    isFailing = true
  }
  /**
   * Includes the answer of the first broker, since the others may be too busy to answer in time. Undefined: the brokers have no topic
   * ids.
   */
  const answersOf = async (topics: readonly string[]): Promise<readonly TopicIds[] | undefined> => {
    const first = await read(topics)
    return first && [first, ...(await readAtEach(topics))]
  }
  /** The id on which all brokers agree. */
  const agreed = (topic: string, answers: readonly TopicIds[]): string => {
    const [id, ...others] = new Set(answers.map((ids) => ids.get(topic)))
    if (id === undefined) throw new Error(`topic ${topic} does not exist now`)
    if (others.length > 0) throw new Error(`topic ${topic} was created again, and not all brokers know it yet`)
    take(topic, id)
    former.delete(id) // an outdated broker may have answered last, which marked the current id as former
    return id
  }
  /** A topic on which the brokers disagree stays in doubt; the others are settled. */
  const settleDoubt = async (): Promise<void> => {
    const settling = doubts
    const askedAt = now()
    const answers = await answersOf(watched).catch(unanswered)
    const problems = watched.flatMap((topic) => {
      try {
        if (answers) agreed(topic, answers)
        else known.delete(topic)
        return []
      } catch (error) {
        known.set(topic, null)
        return [error]
      }
    })
    if (doubts === settling) readAt = askedAt
    if (problems.length > 0) throw problems[0]
    isFailing = false
    settledDoubts = settling
  }
  const refresh = (): Promise<unknown> => {
    const mine = (doubts > settledDoubts ? settleDoubt() : askOne())
      .catch(failed) // the next batch asks again
      .finally(() => {
        if (reading === mine) reading = undefined
      })
    reading = mine
    return mine
  }
  return {
    joined: (topics) => {
      watched = topics
      doubts++
      readAt = -Infinity
    },
    recheck: () => {
      doubts++
      readAt = -Infinity
    },
    current: async (topic) => {
      if (reading) await reading
      if (now() - readAt > freshMs) await (reading ?? refresh())
      return known.get(topic)
    },
    askEach: async (topic) => {
      const answers = await answersOf([topic])
      return answers && agreed(topic, answers)
    },
  }
}

/** Limit on one request. After it the next batch asks again, because this batch must not wait for a whole request timeout. */
const answerMs = 5_000

/** A broker that exceeds this limit counts as down; it catches up on metadata before it returns. */
const answerOfEachMs = 1_000

/** Brokers before Kafka 2.8 have no topic ids, so a topic created again goes undetected. */
export const readTopicIds = async (cluster: Cluster, topics: readonly string[]): Promise<TopicIds | undefined> => {
  const { versions, connectionPool } = await cluster.brokerPool.findConnectedBroker()
  if ((versions?.[3]?.maxVersion ?? 0) < topicIdsVersion) return undefined
  return connectionPool.send(topicIdsRequest(topics)) as Promise<TopicIds>
}

/** The answer of each broker that answers: one that has not heard of a change still serves the former topic under the same name. */
export const readTopicIdsAtEach = async (cluster: Cluster, topics: readonly string[]): Promise<readonly TopicIds[]> => {
  await answeredWithin(answerOfEachMs, 'the list of brokers', () => cluster.brokerPool.refreshMetadata(topics)).catch(
    () => undefined, // a topic may not exist; ask the known brokers
  )
  const answers = await Promise.allSettled(
    Object.keys(cluster.brokerPool.brokers).map((nodeId) =>
      answeredWithin(answerOfEachMs, 'the ids of the topics', async () => {
        const { connectionPool } = await cluster.findBroker({ nodeId })
        return connectionPool.send(topicIdsRequest(topics)) as Promise<TopicIds>
      }),
    ),
  )
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
}

export const openTopicIdentity = (kafka: Kafka, emit: Emit, now: () => number): TopicIdentity => {
  const cluster = clusterOf(kafka)
  const read: ReadTopicIds = (topics) =>
    answeredWithin(answerMs, 'the ids of the topics', () => readTopicIds(cluster, topics))
  const readAtEach: ReadAtEach = (topics) =>
    answeredWithin(answerMs, 'the ids of the topics', () => readTopicIdsAtEach(cluster, topics))
  return { ...topicIdentity(read, readAtEach, emit, now), close: () => cluster.disconnect() }
}
