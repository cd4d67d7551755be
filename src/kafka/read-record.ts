// Reads the one record that stands at an offset of a topic.
import type { KafkaSettings } from './settings.js'
import type { WireRecord } from './wire/record.js'
import { withTopicReader } from './with-topic-reader.js'

export type RecordPlace = { readonly topic: string; readonly partition: number; readonly offset: number }

/** The record, or why there is none. */
export const readRecord = (
  settings: KafkaSettings,
  { topic, partition, offset }: RecordPlace,
): Promise<WireRecord | { readonly refused: string }> =>
  withTopicReader(settings, [topic], async (reader) => {
    const [firsts, ends] = await Promise.all([reader.offsetsAt(topic, 'earliest'), reader.offsetsAt(topic, 'latest')])
    const first = firsts.get(partition)
    const end = ends.get(partition)
    if (first === undefined || end === undefined) return { refused: `topic ${topic} has no partition ${partition}` }
    if (offset < first || offset >= end)
      return { refused: `${topic}/${partition} holds the offsets ${first} to ${end - 1}, not ${offset}` }
    const { records } = await reader.fetch(topic, partition, offset)
    const record = records.find((one) => Number(one.offset) === offset)
    return record ?? { refused: `${topic}/${partition} has no event at ${offset}: it was taken out, or is no event` }
  })
