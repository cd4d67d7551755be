// Reads topics for one task, without joining a group: the reader is opened for it and closed after it.
import { ignoreTelemetry } from '../telemetry/event.js'
import { createClient } from './client.js'
import { failureOf } from './failure.js'
import { openTopicReader, type TopicReader } from './topic-reader.js'
import type { KafkaSettings } from './settings.js'

/** What the task returns, or why the topics cannot be read. */
export const withTopicReader = async <Result>(
  settings: KafkaSettings,
  topics: readonly string[],
  task: (reader: TopicReader) => Promise<Result>,
): Promise<Result | { readonly refused: string }> => {
  let reader: TopicReader | undefined
  try {
    const kafka = createClient(settings, ignoreTelemetry)
    const admin = kafka.admin()
    await admin.connect()
    const existing = await admin.listTopics().finally(() => admin.disconnect())
    for (const topic of topics) if (!existing.includes(topic)) return { refused: `topic ${topic} does not exist` }
    reader = await openTopicReader(kafka)
    return await task(reader)
  } catch (error) {
    return { refused: `Kafka cannot be used: ${failureOf(error).message}` }
  } finally {
    await reader?.close()
  }
}
