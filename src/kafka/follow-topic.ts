// Follows a topic without joining a group: every record from a position on, in the order of its partition, until stopped.
import { ignoreTelemetry } from '../telemetry/event.js'
import { createClient } from './client.js'
import { failureOf } from './failure.js'
import type { Edge } from './replay/edge.js'
import { openTopicReader, type TopicReader } from './replay/topic-reader.js'
import type { KafkaSettings } from './settings.js'
import type { WireRecord } from './wire/record.js'

export type Followed = Pick<WireRecord, 'offset' | 'timestamp' | 'value' | 'headers'> & { readonly partition: number }

/** Ends when the signal is aborted, or with the reason why the topic cannot be read. */
export const followTopic = async (
  settings: KafkaSettings,
  topic: string,
  from: Edge,
  each: (record: Followed) => Promise<void>,
  signal: AbortSignal,
): Promise<{ readonly refused: string } | undefined> => {
  let reader: TopicReader | undefined
  try {
    const kafka = createClient(settings, ignoreTelemetry)
    const admin = kafka.admin()
    await admin.connect()
    const topics = await admin.listTopics().finally(() => admin.disconnect())
    if (!topics.includes(topic)) return { refused: `topic ${topic} does not exist` }
    reader = await openTopicReader(kafka)
    const open = reader
    const starts = await startsOf(open, topic, from)
    await Promise.all(
      [...starts].map(async ([partition, start]) => {
        for (let next = start; !signal.aborted;) {
          const fetched = await open.fetch(topic, partition, next)
          next = fetched.next
          for (const record of fetched.records) await each({ ...record, partition })
        }
      }),
    )
    return undefined
  } catch (error) {
    return { refused: `Kafka cannot be used: ${failureOf(error).message}` }
  } finally {
    await reader?.close()
  }
}

const startsOf = async (reader: TopicReader, topic: string, from: Edge): Promise<ReadonlyMap<number, number>> => {
  const ends = await reader.offsetsAt(topic, 'latest')
  if (from.kind === 'now') return ends
  if (from.kind === 'earliest') return reader.offsetsAt(topic, 'earliest')
  if (from.kind === 'offset')
    return new Map([...ends].map(([partition, end]) => [partition, Math.min(from.offset, end)]))
  const found = await reader.offsetsAt(topic, from.time)
  return new Map(
    [...ends].map(([partition, end]) => [partition, found.get(partition) === -1 ? end : (found.get(partition) ?? end)]),
  )
}
