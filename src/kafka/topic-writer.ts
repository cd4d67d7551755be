// Writes lines to a topic outside any group: round its partitions, until each is acknowledged or refused.
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
  /** Whether the topic was not there before. */
  readonly isNew: boolean
  /** Resolves with the lines that the topic cannot take, by their place among those given. */
  readonly send: (lines: readonly Buffer[]) => Promise<readonly { readonly place: number; readonly why: string }[]>
}

type TopicOptions = {
  readonly topic: string
  /** The partitions to create a missing topic with; absent: a missing topic is refused. */
  readonly create?: number | undefined
  readonly signal: AbortSignal
  readonly now: () => number
}

/** Two tries to reach the brokers, and five in a row for a batch that they may or may not have: a command is not a service. */
const retries = 2
const maxFailures = 5

/** What the task returns, or why the topic cannot be written. */
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

/** Of a batch that was refused each record is sent alone: the others are not what is wrong. */
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
