// Follows a topic without a group: every record from a position on, in partition order, until stopped.
import type { Edge } from './edge.js'
import { type TopicReader, withTopicReader } from './topic-reader.js'
import type { KafkaSettings } from './settings.js'
import type { WireRecord } from './wire/record.js'

export type Followed = Pick<WireRecord, 'offset' | 'timestamp' | 'value' | 'headers'> & { readonly partition: number }

/** Ends when the signal is aborted, or with the reason why the topic cannot be read. */
export const followTopic = (
  settings: KafkaSettings,
  topic: string,
  from: Edge,
  each: (record: Followed) => Promise<void>,
  signal: AbortSignal,
): Promise<{ readonly refused: string } | undefined> =>
  withTopicReader(settings, [topic], async (reader) => {
    const starts = await startsOf(reader, topic, from)
    await Promise.all(
      [...starts].map(async ([partition, start]) => {
        for (let next = start; !signal.aborted;) {
          const fetched = await reader.fetch(topic, partition, next)
          next = fetched.next
          for (const record of fetched.records) await each({ ...record, partition })
        }
      }),
    )
    return undefined
  })

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
