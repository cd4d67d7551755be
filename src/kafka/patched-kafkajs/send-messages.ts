// Sends records to the partition leaders, with one result per partition and the same sequence number in all attempts.
import { createRequire } from 'node:module'

const load = createRequire(import.meta.url)

type Failure = Error & { readonly type?: string; readonly retriable?: boolean } & Address
type Address = { readonly host?: string | undefined; readonly port?: number | undefined }
const errors = load('kafkajs/src/errors.js') as {
  readonly KafkaJSMetadataNotLoaded: new (message: string) => Failure
  readonly KafkaJSNonRetriableError: new (message: string) => Failure
}
const { createErrorFromCode } = load('kafkajs/src/protocol/error.js') as {
  readonly createErrorFromCode: (code: number) => Failure
}

type Message = unknown
type PartitionData = {
  readonly partition: number
  readonly messages: readonly Message[]
  readonly firstSequence: number
}
type TopicData = { readonly topic: string; readonly partitions: readonly PartitionData[] }
type PartitionAnswer = { readonly partition: number; readonly errorCode: number; readonly baseOffset?: string }
type Answer = PartitionAnswer & { readonly topicName: string }
type Produced = {
  readonly topics: readonly { readonly topicName: string; readonly partitions: readonly PartitionAnswer[] }[]
}

/** The used parts of the cluster, producer state and retrier of kafkajs. */
export type ProducerParts = {
  readonly logger: { readonly error: (message: string, more: object) => void }
  readonly cluster: {
    readonly addMultipleTargetTopics: (topics: readonly string[]) => Promise<void>
    readonly refreshMetadataIfNecessary: () => Promise<void>
    readonly refreshMetadata: () => Promise<void>
    readonly isConnected: () => boolean
    readonly connect: () => Promise<void>
    readonly removeBroker: (which: Address) => void
    readonly findTopicPartitionMetadata: (topic: string) => readonly unknown[]
    readonly findLeaderForPartitions: (
      topic: string,
      partitions: readonly number[],
    ) => Readonly<Record<string, unknown>>
    readonly findBroker: (which: { readonly nodeId: string }) => Promise<{
      readonly produce: (request: object) => Promise<Produced | undefined>
    }>
  }
  readonly partitioner: (given: { topic: string; partitionMetadata: readonly unknown[]; message: Message }) => number
  readonly eosManager: {
    readonly isTransactional: () => boolean
    readonly getTransactionalId: () => string | undefined
    readonly getProducerId: () => unknown
    readonly getProducerEpoch: () => number
    readonly getSequence: (topic: string, partition: number) => number
    readonly updateSequence: (topic: string, partition: number, increment: number) => void
    readonly addPartitionsToTransaction: (topicData: readonly TopicData[]) => Promise<void>
  }
  readonly retrier: <Result>(
    attempt: (bail: (error: Error) => void, retryCount: number, retryTime: number) => Promise<Result>,
  ) => Promise<Result>
}

export type Sending = {
  readonly acks: number
  readonly timeout?: number
  readonly compression?: number
  readonly topicMessages: readonly { readonly topic: string; readonly messages: readonly Message[] }[]
}

/** The records of one partition. */
type Batch = {
  readonly topic: string
  readonly partition: number
  readonly messages: readonly Message[]
  firstSequence: number
  isAcknowledged: boolean
  /** Possibly stored without an acknowledgement. */
  isInDoubt: boolean
}

/** Attached to the error of a failed send. */
export type Acknowledged = { readonly acknowledged: readonly { readonly topic: string; readonly partition: number }[] }

/**
 * kafkajs stores answers per broker. When leaders change between two attempts, it skips a partition whose new leader has already
 * answered. It also writes a partition again, under new sequence numbers, that its former leader had acknowledged.
 */
export const sendMessages =
  ({ logger, cluster, partitioner, eosManager, retrier }: ProducerParts) =>
  async ({ acks, timeout, compression, topicMessages }: Sending): Promise<readonly Answer[]> => {
    const answers: Answer[] = []
    let batches: readonly Batch[] = []
    let endTurn = (): void => undefined

    /** Assigns partitions once, because a retry must not move a record to another one. */
    const begin = async (): Promise<void> => {
      batches = topicMessages.flatMap(({ topic, messages }) => {
        const partitionMetadata = cluster.findTopicPartitionMetadata(topic)
        if (partitionMetadata.length === 0)
          throw new errors.KafkaJSMetadataNotLoaded('Producing to topic without metadata')
        const groups: Record<number, Message[]> = {}
        for (const message of messages)
          (groups[partitioner({ topic, partitionMetadata, message })] ??= []).push(message)
        return Object.entries(groups).map(([partition, group]) => newBatch(topic, Number(partition), group))
      })
      if (eosManager.getProducerId() !== noProducerId) {
        const turn = takeTurn(eosManager, batches)
        endTurn = turn.end
        await turn.isReached
      }
      for (const batch of batches) batch.firstSequence = eosManager.getSequence(batch.topic, batch.partition)
    }

    const acknowledge = (batch: Batch, answer?: PartitionAnswer): void => {
      const { topic, partition, firstSequence, messages } = batch
      batch.isAcknowledged = true
      eosManager.updateSequence(topic, partition, sequenceAfter(firstSequence, messages.length) - firstSequence)
      if (answer) answers.push({ topicName: topic, ...answer, errorCode: 0 })
    }

    const sendTo = async (nodeId: string, batchesOf: readonly Batch[]): Promise<readonly Failure[]> => {
      const broker = await cluster.findBroker({ nodeId }).catch((error: unknown) => error as Failure)
      if (broker instanceof Error) return [broker]
      const fail = (batch: Batch, failure: Failure): Failure => {
        batch.isInDoubt ||= mayFollowStoring(failure)
        return failure
      }
      try {
        const produced = await broker.produce({
          transactionalId: eosManager.isTransactional() ? eosManager.getTransactionalId() : undefined,
          producerId: eosManager.getProducerId(),
          producerEpoch: eosManager.getProducerEpoch(),
          acks,
          timeout,
          compression,
          topicData: topicDataOf(batchesOf),
        })
        return batchesOf.flatMap((batch) => {
          const answer = produced && answerTo(batch, produced)
          if (acks !== 0 && !answer) return fail(batch, createErrorFromCode(codes.NETWORK_EXCEPTION))
          const isRepeated = answer?.errorCode === codes.DUPLICATE_SEQUENCE_NUMBER && batch.isInDoubt
          if (answer && answer.errorCode !== 0 && !isRepeated) return fail(batch, createErrorFromCode(answer.errorCode))
          acknowledge(batch, answer)
          return []
        })
      } catch (error) {
        return batchesOf.map((batch) => fail(batch, error as Failure))
      }
    }

    const attempt = async (): Promise<readonly Failure[]> => {
      await cluster.refreshMetadataIfNecessary()
      if (batches.length === 0) await begin()
      const pending = batches.filter(({ isAcknowledged }) => !isAcknowledged)
      const leaders = new Map<string, Batch[]>()
      for (const batch of pending) {
        const [leader] = Object.keys(cluster.findLeaderForPartitions(batch.topic, [batch.partition]))
        if (leader === undefined) throw createErrorFromCode(codes.UNKNOWN_TOPIC_OR_PARTITION)
        const same = leaders.get(leader)
        if (same) same.push(batch)
        else leaders.set(leader, [batch])
      }
      if (eosManager.isTransactional()) await eosManager.addPartitionsToTransaction(topicDataOf(pending))
      // All requests end before the next attempt, so that no batch is in flight twice.
      return (await Promise.all([...leaders].map(([nodeId, batchesOf]) => sendTo(nodeId, batchesOf)))).flat()
    }

    try {
      return await retrier(async (bail, retryCount, retryTime) => {
        await cluster.addMultipleTargetTopics(topicMessages.map(({ topic }) => topic))
        const failures = await attempt().catch((error: unknown) => [error as Failure])
        const failure = failures.find(({ retriable }) => retriable !== true) ?? failures[0]
        if (!failure) return answers
        for (const { name, host, port } of failures)
          if (name === 'KafkaJSConnectionClosedError') cluster.removeBroker({ host, port })
        logger.error(`Failed to send messages: ${failure.message}`, { retryCount, retryTime })
        if (failure.retriable !== true) {
          bail(failure)
          return answers
        }
        if (!cluster.isConnected()) await cluster.connect()
        await cluster.refreshMetadata()
        throw failure
      })
    } catch (error) {
      const acknowledged = batches.flatMap(({ topic, partition, isAcknowledged }) =>
        isAcknowledged ? [{ topic, partition }] : [],
      )
      throw Object.assign(error as Failure, { acknowledged } satisfies Acknowledged)
    } finally {
      endTurn()
    }
  }

/** Keeps the results of all partitions: kafkajs throws the first error of an answer and drops the rest. */
export const keepAllAnswers = (original: unknown): unknown => ({
  ...(original as object),
  parse: (produced: Produced): Promise<Produced> => Promise.resolve(produced),
})

const noProducerId = -1
const codes = { UNKNOWN_TOPIC_OR_PARTITION: 3, NETWORK_EXCEPTION: 13, DUPLICATE_SEQUENCE_NUMBER: 46 }

/** Errors that a leader may also return after storing a batch, so it is unknown whether the next leader has it. */
const answersInDoubt = new Set([
  'UNKNOWN',
  'NOT_LEADER_FOR_PARTITION',
  'REQUEST_TIMED_OUT',
  'NETWORK_EXCEPTION',
  'NOT_ENOUGH_REPLICAS_AFTER_APPEND',
  'KAFKA_STORAGE_ERROR',
])

/** A batch without an answer may be stored, unless the request could not be encoded. */
const mayFollowStoring = ({ type, retriable }: Failure): boolean =>
  type === undefined ? retriable === true : answersInDoubt.has(type)

const newBatch = (topic: string, partition: number, messages: readonly Message[]): Batch => ({
  topic,
  partition,
  messages,
  firstSequence: 0,
  isAcknowledged: false,
  isInDoubt: false,
})

/** Sequence numbers wrap around to 0 after the largest 32-bit integer, even within a batch. */
const sequenceAfter = (first: number, count: number): number => (first + count) % 2 ** 31

const topicDataOf = (batches: readonly Batch[]): readonly TopicData[] => {
  const topics = new Map<string, PartitionData[]>()
  for (const { topic, partition, messages, firstSequence } of batches) {
    const partitions = topics.get(topic) ?? []
    topics.set(topic, partitions)
    partitions.push({ partition, messages, firstSequence })
  }
  return [...topics].map(([topic, partitions]) => ({ topic, partitions }))
}

const answerTo = (batch: Batch, { topics }: Produced): PartitionAnswer | undefined =>
  topics
    .find(({ topicName }) => topicName === batch.topic)
    ?.partitions.find(({ partition }) => partition === batch.partition)

/** The current or last send of each producer and partition. */
const turns = new WeakMap<object, Map<string, Promise<unknown>>>()

/**
 * Allows one send at a time per partition, because the next sequence number depends on its result. If the result of the last one is
 * unknown, further sends fail: a broker could treat the reused number as a duplicate and acknowledge it without storing it.
 */
const takeTurn = (
  producer: object,
  batches: readonly Batch[],
): { readonly isReached: Promise<unknown>; readonly end: () => void } => {
  const last = turns.get(producer) ?? new Map<string, Promise<unknown>>()
  turns.set(producer, last)
  let end = (): void => undefined
  const ended = new Promise<void>((resolve) => (end = resolve))
  const before = batches.map((batch) => {
    const name = `${batch.topic}/${batch.partition}`
    const previous = last.get(name) ?? Promise.resolve()
    const mine = Promise.all([previous, ended]).then(() => {
      if (batch.isInDoubt && !batch.isAcknowledged)
        throw new errors.KafkaJSNonRetriableError(
          `It is not known whether the last records for ${name} were stored: this producer cannot be used for it again`,
        )
    })
    mine.catch(() => undefined) // the next send to this partition gets the error
    last.set(name, mine)
    return previous
  })
  return { isReached: Promise.all(before), end }
}
