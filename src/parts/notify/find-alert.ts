// Finds the alert with an id on the alerts topic, newest records first.
import type { Config } from '../../config/schema.js'
import { withTopicReader, type TopicReader } from '../../kafka/topic-reader.js'
import { readAlert, type AlertRecord } from './alert-record.js'
import { connectedSettingsOf } from '../../app/connected-settings.js'

const stepRecords = 500

export const findAlert = (
  config: Config,
  id: string,
  { env }: { readonly env: Readonly<Record<string, string | undefined>> },
): Promise<AlertRecord | { readonly refused: string }> => {
  const topic = config.kafka.alertsTopic
  if (topic === '') return Promise.resolve({ refused: 'no alerts topic is named (kafka.alertsTopic): use --match' })
  return withTopicReader(connectedSettingsOf(config, { env }), [topic], async (reader) => {
    const [firsts, ends] = await Promise.all([reader.offsetsAt(topic, 'earliest'), reader.offsetsAt(topic, 'latest')])
    for (const [partition, end] of ends) {
      const found = await findIn(reader, { topic, partition, first: firsts.get(partition) ?? 0, end }, id)
      if (found) return found
    }
    return { refused: `topic ${topic} has no alert ${id}` }
  })
}

type Range = { readonly topic: string; readonly partition: number; readonly first: number; readonly end: number }

const findIn = async (
  { fetch }: TopicReader,
  { topic, partition, first, end }: Range,
  id: string,
): Promise<AlertRecord | undefined> => {
  for (let until = end; until > first;) {
    const from = Math.max(first, until - stepRecords)
    for (let at = from; at < until;) {
      const { records, next } = await fetch(topic, partition, at)
      for (const { value } of records) {
        // Cheaper than parsing every record.
        if (value?.includes(id) !== true) continue
        const alert = readAlert(value)
        if ('id' in alert && alert.id === id) return alert
      }
      if (next === at) break
      at = next
    }
    until = from
  }
  return undefined
}
