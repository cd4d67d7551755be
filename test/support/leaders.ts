// Partition leaders without a network: they store, acknowledge and reject like Kafka brokers, with scripted failures.
import {
  keepAllAnswers,
  sendMessages,
  type ProducerParts,
  type Sending,
} from '../../src/kafka/patched-kafkajs/send-messages.js'
import { original } from './original-kafkajs.js'

type KafkaError = Error & { readonly type?: string }
const { KafkaJSConnectionClosedError } = original('errors.js') as {
  KafkaJSConnectionClosedError: new (message: string, about: object) => KafkaError
}
const createRetry = original('retry/index.js') as (options: object) => ProducerParts['retrier']
const response = original('protocol/requests/produce/v3/response.js')
const createEosManager = original('producer/eosManager/index.js') as (options: object) => EosManager

type EosManager = ProducerParts['eosManager'] & {
  readonly initProducerId: () => Promise<void>
  readonly beginTransaction: () => void
  readonly commit: () => Promise<void>
}
/** Sends messages, and parses the answers into a result or an error. */
type Sender = {
  readonly sendMessages: (parts: ProducerParts) => (sending: Sending) => Promise<readonly object[]>
  readonly parse: (produced: object) => Promise<never>
}
const sender = (send: unknown, answers: unknown): Sender => ({
  sendMessages: send as Sender['sendMessages'],
  parse: (answers as Sender).parse,
})
export const ours = sender(sendMessages, keepAllAnswers(response))
export const theirs = sender(original('producer/sendMessages.js'), response)

type TopicData = {
  topic: string
  partitions: { partition: number; firstSequence: number; messages: { value: string }[] }[]
}
export type Request = { readonly leader: number; readonly batches: Readonly<Record<string, number>> }

/** The fault of one request. */
export type Trouble = {
  /** Leader changes before the request arrives, by `topic/partition`. */
  readonly move?: Readonly<Record<string, number>>
  /** Leader changes after it was stored. */
  readonly moveAfter?: Readonly<Record<string, number>>
  /** Cuts the connection before the request arrives, or before its answer is sent. */
  readonly cut?: 'request' | 'answer'
  /** By `topic/partition`: an error instead of storing, or after storing. */
  readonly errors?: Readonly<Record<string, number>>
  readonly errorsAfter?: Readonly<Record<string, number>>
  readonly until?: Promise<unknown>
}

type Options = {
  /** By `topic/partition`. */
  readonly leaders: Readonly<Record<string, number>>
  readonly kind?: 'plain' | 'idempotent' | 'transactional'
  /** One per request, in the order of sending. */
  readonly troubles?: readonly (Trouble | undefined)[]
  readonly retries?: number
}

export type Leaders = {
  readonly send: (records: Readonly<Record<string, readonly string[]>>, acks?: number) => Promise<readonly object[]>
  /** The stored values of each partition. */
  readonly stored: Record<string, string[]>
  /** With the first sequence number of each partition. */
  readonly requests: Request[]
  /** Partitions in the order in which they joined the transaction. */
  readonly added: string[]
  readonly troubles: (Trouble | undefined)[]
  readonly eosManager: EosManager
  /** Removes a topic from the cluster's cached metadata. */
  readonly forget: (topic: string) => void
}

const nameOf = (topic: string, partition: number): string => `${topic}/${partition}`
const placeOf = (name: string): { topic: string; partition: number } => {
  const cut = name.lastIndexOf('/')
  return { topic: name.slice(0, cut), partition: Number(name.slice(cut + 1)) }
}

const NOT_LEADER = 6
const OUT_OF_ORDER = 45
const INVALID_TXN_STATE = 48

/** A producer that sends to these leaders, with kafkajs's code or ours. */
export const openLeaders = async (
  { sendMessages, parse }: Sender,
  { leaders, kind = 'idempotent', troubles: script = [], retries = 6 }: Options,
): Promise<Leaders> => {
  const current: Record<string, number> = { ...leaders }
  let known: Record<string, number> = { ...leaders }
  const stored: Leaders['stored'] = Object.fromEntries(Object.keys(leaders).map((name) => [name, []]))
  const lastOf = new Map<string, { first: number; count: number; offset: number }>()
  const requests: Request[] = []
  const added: string[] = []
  const troubles = [...script]

  const store = (name: string, firstSequence: number, values: readonly string[]): { code: number; offset: number } => {
    const log = (stored[name] ??= [])
    const last = lastOf.get(name)
    const isKnown = last?.first === firstSequence && last.count === values.length
    if (kind !== 'plain' && isKnown) return { code: 0, offset: last.offset }
    if (kind !== 'plain' && firstSequence !== (last ? (last.first + last.count) % 2 ** 31 : firstSequence))
      return { code: OUT_OF_ORDER, offset: -1 }
    const offset = log.length
    lastOf.set(name, { first: firstSequence, count: values.length, offset })
    log.push(...values)
    return { code: 0, offset }
  }

  const produce = async (leader: number, topicData: readonly TopicData[], acks: number): Promise<undefined> => {
    const trouble = troubles.shift()
    requests.push({
      leader,
      batches: Object.fromEntries(
        topicData.flatMap(({ topic, partitions }) =>
          partitions.map(({ partition, firstSequence }) => [nameOf(topic, partition), firstSequence]),
        ),
      ),
    })
    const closed = new KafkaJSConnectionClosedError('Closed connection', { host: 'broker', port: leader })
    await new Promise((resolve) => setImmediate(resolve))
    await trouble?.until
    Object.assign(current, trouble?.move)
    if (trouble?.cut === 'request') throw closed
    const topics = topicData.map(({ topic, partitions }) => ({
      topicName: topic,
      partitions: partitions.map(({ partition, firstSequence, messages }) => {
        const name = nameOf(topic, partition)
        const refused =
          trouble?.errors?.[name] ??
          (current[name] !== leader ? NOT_LEADER : undefined) ??
          (kind === 'transactional' && !added.includes(name) ? INVALID_TXN_STATE : undefined)
        if (refused !== undefined) return { partition, errorCode: refused, baseOffset: '-1' }
        const values = messages.map(({ value }) => value)
        const { code, offset } = store(name, firstSequence, values)
        return { partition, errorCode: trouble?.errorsAfter?.[name] ?? code, baseOffset: String(offset) }
      }),
    }))
    Object.assign(current, trouble?.moveAfter)
    if (trouble?.cut === 'answer') throw closed
    return acks === 0 ? undefined : parse({ topics })
  }

  const coordinator = {
    initProducerId: () => Promise.resolve({ producerId: 7, producerEpoch: 0 }),
    addPartitionsToTxn: ({ topics }: { topics: readonly { topic: string; partitions: readonly number[] }[] }) => {
      for (const { topic, partitions } of topics) added.push(...partitions.map((one) => nameOf(topic, one)))
      return Promise.resolve()
    },
    endTxn: () => {
      added.length = 0
      return Promise.resolve()
    },
  }
  const brokers = new Map<string, object>()
  const cluster = {
    retry: {},
    targetTopics: new Set<string>(),
    addMultipleTargetTopics: () => Promise.resolve(),
    refreshMetadataIfNecessary: () => Promise.resolve(),
    refreshMetadata: () => {
      known = { ...current }
      return Promise.resolve()
    },
    isConnected: () => true,
    connect: () => Promise.resolve(),
    removeBroker: () => undefined,
    findTopicPartitionMetadata: (topic: string) =>
      Object.keys(known)
        .map(placeOf)
        .filter((place) => place.topic === topic)
        .map(({ partition }) => ({ partitionId: partition })),
    findLeaderForPartitions: (topic: string, partitions: readonly (number | string)[]) => {
      const found: Record<string, number[] | undefined> = {}
      for (const partition of partitions.map(Number)) {
        const leader = known[nameOf(topic, partition)]
        if (leader !== undefined) (found[leader] ??= []).push(partition)
      }
      return found
    },
    findBroker: ({ nodeId }: { nodeId: string }) => {
      const broker = brokers.get(nodeId) ?? {
        nodeId: Number(nodeId),
        produce: ({ topicData, acks }: { topicData: readonly TopicData[]; acks: number }) =>
          produce(Number(nodeId), topicData, acks),
      }
      brokers.set(nodeId, broker)
      return Promise.resolve(broker as { produce: (request: object) => Promise<undefined> })
    },
    findControllerBroker: () => Promise.resolve(coordinator),
    findGroupCoordinator: () => Promise.resolve(coordinator),
  }
  const logger = { debug: () => undefined, error: () => undefined }
  const transactional = kind === 'transactional'
  const eosManager = createEosManager({ logger, cluster, transactional, transactionalId: 'a-transaction' })
  if (kind !== 'plain') await eosManager.initProducerId()
  if (transactional) eosManager.beginTransaction()
  const retrier = createRetry({ retries, initialRetryTime: 1, maxRetryTime: 2 })
  const partitioner: ProducerParts['partitioner'] = ({ message }) => (message as { partition: number }).partition
  const send = sendMessages({ logger, cluster, partitioner, eosManager, retrier })
  return {
    send: (records, acks = -1) => {
      const topics = new Map<string, object[]>()
      for (const [name, values] of Object.entries(records)) {
        const { topic, partition } = placeOf(name)
        topics.set(topic, [...(topics.get(topic) ?? []), ...values.map((value) => ({ partition, value }))])
      }
      return send({
        acks,
        timeout: 1_000,
        topicMessages: [...topics].map(([topic, messages]) => ({ topic, messages })),
      })
    },
    stored,
    requests,
    added,
    troubles,
    eosManager,
    forget: (topic) => {
      known = Object.fromEntries(Object.entries(known).filter(([name]) => placeOf(name).topic !== topic))
    },
  }
}
