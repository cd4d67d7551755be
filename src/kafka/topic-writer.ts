// Writes lines to a topic without a group: round robin over its partitions, until each line is acknowledged or refused.
import type { Kafka } from 'kafkajs'
import { ignoreTelemetry } from '../telemetry/event.js'
import { createClient } from './client.js'
import { failureOf } from './failure.js'
import { openIdempotentSender, type IdempotentSender } from './producers.js'
import type { Outgoing } from './records.js'
import type { KafkaSettings } from './settings.js'
import { makeTopics } from './topics.js'

type Refused = { readonly refused: string }

type TopicWriter = {
  readonly partitions: number
  /** Whether the topic did not exist before. */
  readonly isNew: boolean
  /** Resolves with the refused lines, by their index in the list. */
  readonly send: (lines: readonly Buffer[]) => Promise<readonly { readonly place: number; readonly why: string }[]>
}

type TopicOptions = {
  readonly topic: string
  /** Number of partitions for a missing topic; absent: a missing topic is refused. */
  readonly create?: number | undefined
  readonly signal: AbortSignal
  readonly now: () => number
}

/** Two retries to reach the brokers, and five consecutive failures per batch: a command gives up sooner than a service. */
const retries = 2
const maxFailures = 5

/** Resolves with the result of the task, or with the reason why the topic cannot be written. */
export const withTopicWriter = async <Result>(
  settings: KafkaSettings,
  options: TopicOptions,
  task: (writer: TopicWriter) => Promise<Result>,
): Promise<Result | Refused> => {
  const kafka = createClient(settings, ignoreTelemetry, { retries })
  const found = await openTopic(kafka, options)
  if ('refused' in found) return found
  let failures = 0
  let lost: string | undefined
  const sender = openIdempotentSender(kafka, 'none', (_, cause) => {
    lost = cause
    if (++failures === maxFailures || options.signal.aborted) void sender.close()
  })
  let next = 0
  const send: TopicWriter['send'] = async (lines) => {
    const records = lines.map((value): Outgoing => recordOf(value, options, next++ % found.partitions))
    const done = await sender.send(records)
    failures = 0
    lost = undefined
    if (done === 'acknowledged') return []
    const refused = await refusedOf(sender, done.left)
    return refused.map(({ record, why }) => ({ place: records.indexOf(record), why }))
  }
  try {
    return await task({ ...found, send })
  } catch (error) {
    if (lost === undefined) throw error
    return unusable(lost)
  } finally {
    await sender.close()
  }
}

const unusable = (why: string): Refused => ({ refused: `Kafka cannot be used: ${why}` })

const openTopic = async (
  kafka: Kafka,
  { topic, create }: TopicOptions,
): Promise<Pick<TopicWriter, 'partitions' | 'isNew'> | Refused> => {
  const admin = kafka.admin()
  try {
    await admin.connect()
    const isNew = !(await admin.listTopics()).includes(topic)
    if (isNew && create === undefined) return { refused: `topic ${topic} does not exist` }
    if (isNew && create !== undefined)
      await makeTopics(admin, [{ topic, numPartitions: create, replicationFactor: -1 }])
    const [found] = (await admin.fetchTopicMetadata({ topics: [topic] })).topics
    return { partitions: found?.partitions.length ?? 0, isNew }
  } catch (error) {
    return unusable(failureOf(error).message)
  } finally {
    await admin.disconnect()
  }
}

const recordOf = (value: Buffer, { topic, now }: TopicOptions, partition: number): Outgoing => ({
  topic,
  partition,
  key: null,
  value,
  headers: [],
  timestamp: String(now()),
})

/** Sends each record of a refused batch alone, since only some of them are invalid. */
const refusedOf = async (
  { send }: IdempotentSender,
  records: readonly Outgoing[],
): Promise<readonly { readonly record: Outgoing; readonly why: string }[]> => {
  const refused: { readonly record: Outgoing; readonly why: string }[] = []
  for (const record of records) {
    const done = await send([record])
    if (done !== 'acknowledged') refused.push({ record, why: done.refused })
  }
  return refused
}
