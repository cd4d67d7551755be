// Reads the one record that stands at an offset of a topic, without joining a group.
import { ignoreTelemetry } from '../telemetry/event.js'
import { createClient } from './client.js'
import { failureOf } from './failure.js'
import { openTopicReader, type TopicReader } from './replay/topic-reader.js'
import type { KafkaSettings } from './settings.js'
import type { WireRecord } from './wire/record.js'

export type RecordPlace = { readonly topic: string; readonly partition: number; readonly offset: number }

/** The record, or why there is none. */
export const readRecord = async (
  settings: KafkaSettings,
  { topic, partition, offset }: RecordPlace,
): Promise<WireRecord | { readonly refused: string }> => {
  let reader: TopicReader | undefined
  try {
    const kafka = createClient(settings, ignoreTelemetry)
    const admin = kafka.admin()
    await admin.connect()
    const topics = await admin.listTopics().finally(() => admin.disconnect())
    if (!topics.includes(topic)) return { refused: `topic ${topic} does not exist` }
    reader = await openTopicReader(kafka)
    const [firsts, ends] = await Promise.all([reader.offsetsAt(topic, 'earliest'), reader.offsetsAt(topic, 'latest')])
    const first = firsts.get(partition)
    const end = ends.get(partition)
    if (first === undefined || end === undefined) return { refused: `topic ${topic} has no partition ${partition}` }
    if (offset < first || offset >= end)
      return { refused: `${topic}/${partition} holds the offsets ${first} to ${end - 1}, not ${offset}` }
    const { records } = await reader.fetch(topic, partition, offset)
    const record = records.find((one) => Number(one.offset) === offset)
    return record ?? { refused: `${topic}/${partition} has no event at ${offset}: it was taken out, or is no event` }
  } catch (error) {
    return { refused: `Kafka cannot be used: ${failureOf(error).message}` }
  } finally {
    await reader?.close()
  }
}
