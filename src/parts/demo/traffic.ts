// Writes sample events to a topic and reads the annotated events from another.
import { createClient, type Admin } from '../../kafka/client.js'
import type { KafkaSettings } from '../../kafka/settings.js'
import { makeTopics } from '../../kafka/topics.js'
import type { NewRecord } from '../../kafka/wire/record.js'
import { ignoreTelemetry } from '../../telemetry/event.js'

/** In production, the firewalls already write to this topic. */
export const createTopic = (settings: KafkaSettings, topic: string, partitions: number): Promise<void> =>
  withAdmin(settings, (admin) => makeTopics(admin, [{ topic, numPartitions: partitions }]))

export const deleteTopics = (settings: KafkaSettings, topics: readonly string[]): Promise<void> =>
  withAdmin(settings, (admin) => admin.deleteTopics({ topics: [...topics] }))

const withAdmin = async (settings: KafkaSettings, use: (admin: Admin) => Promise<unknown>): Promise<void> => {
  const admin = createClient(settings, ignoreTelemetry).admin()
  await admin.connect()
  try {
    await use(admin)
  } finally {
    await admin.disconnect()
  }
}

type Line = { readonly key: string; readonly text: string }

/** Keeps the order; lines with the same key go to the same partition. */
export const send = async (settings: KafkaSettings, topic: string, lines: readonly Line[]): Promise<void> => {
  const producer = createClient(settings, ignoreTelemetry).producer({ idempotent: true })
  await producer.connect()
  try {
    for (let from = 0; from < lines.length; from += 250)
      await producer.send({ topic, messages: lines.slice(from, from + 250).map(toRecord) as never })
  } finally {
    await producer.disconnect()
  }
}

/** Our record encoder expects ready-made records. */
const toRecord = ({ key, text }: Line): NewRecord => ({
  key: Buffer.from(key),
  value: Buffer.from(text),
  headers: [],
  timestamp: String(Date.now()),
})

/** Calls `take` for every record until the returned function is called. */
export const receive = async (
  settings: KafkaSettings,
  topic: string,
  take: (value: Buffer, origin: string) => void,
): Promise<() => Promise<void>> => {
  const consumer = createClient(settings, ignoreTelemetry).consumer({
    groupId: `${settings.groupId}-reader-of-${topic}`,
    maxWaitTimeInMs: 250,
  })
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  await consumer.run({
    eachMessage: ({ partition, message }) => {
      if (message.value) take(message.value, `${topic}/${partition}/${message.offset}`)
      return Promise.resolve()
    },
  })
  return () => consumer.disconnect()
}
