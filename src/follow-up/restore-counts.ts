// Restores the counts of an input partition: what the sightings topic holds, and the events since, which are read again.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Pipeline } from '../pipeline/pipeline.js'
import { accusedKey, beganKey, countedKey, readAccused, readCount, readCounted } from './count-record.js'
import { dayMs } from './seen.js'
import { asDelivered, deliveredOf, keptDays, type Delivered, type SightingCounts } from './sighting-counts.js'
import { eventsOf } from '../delivery/chunks.js'
import { type TopicReader, readUpTo } from '../kafka/topic-reader.js'
import type { TopicOf } from './sightings-topic.js'
import { nameOf, type InputPartition } from '../kafka/fetched.js'

type RestoreCounts = {
  readonly reader: Pick<TopicReader, 'fetch' | 'offsetsAt'>
  readonly topic: TopicOf
  readonly input: InputPartition
  /** The end of its log in the sightings topic. */
  readonly end: number
  /** Up to where the events are counted by others; asked when the topic is read. */
  readonly committed: () => Promise<number>
  /** Annotates without waiting. */
  readonly pipeline: Pipeline
  /** Filled with the first offsets of the chunks whose accusations are in the topic. */
  readonly accusing: Set<number>
  /** Where they are put: no live event is counted in it. */
  readonly past: SightingCounts
  readonly goesOn: () => boolean
  readonly now: () => number
}

/** Events that are read again at most: a topic that was not written for long is no reason to read everything. */
const maxAgain = 500_000
const sliceEvents = 256

/** Resolves with how many events were read again. */
export const restoreCounts = async (options: RestoreCounts): Promise<number> => {
  const { reader, topic, input, end, committed, accusing, past, goesOn, now } = options
  const name = nameOf(input)
  const start = `${name}/`
  const beganStart = beganKey(name)
  const oldest = Math.floor(now() / dayMs) - keptDays
  let counted: number | undefined
  let began = Infinity
  const accusedStart = accusedKey(name)
  const accused: AccusedAt = new Map()
  await readUpTo(
    reader,
    { topic: topic.topic, partition: input.partition % topic.partitions, end },
    ({ key, value }) => {
      const text = key?.toString() ?? ''
      if (!text.startsWith(start) || !value) return
      if (text === countedKey(name)) counted = readCounted(value)
      else if (text.startsWith(beganStart)) began = Math.min(began, readCounted(value) ?? Infinity)
      else if (text.startsWith(accusedStart)) {
        accusing.add(Number(text.slice(accusedStart.length)))
        for (const { offset, values } of readAccused(value)) accused.set(offset, new Set(values))
      }
      const row = readCount(text, value)
      if (row && row.partition === name && row.seen.day > oldest) past.restore(row.seen)
    },
    goesOn,
  )
  const until = await committed()
  // Its owners may all have ended before they wrote counts for the first time.
  return countAgain(Math.max(counted ?? began, until - maxAgain), until, accused, options)
}

type AccusedAt = Map<number, ReadonlySet<string>>
const nothing: ReadonlySet<string> = new Set()

/** What a row has counted already it does not count again. */
const countAgain = async (
  from: number,
  until: number,
  accused: AccusedAt,
  { reader, input, pipeline, past, goesOn, now }: RestoreCounts,
): Promise<number> => {
  const { topic, partition } = input
  let again = 0
  for (let at = from; at < until && goesOn();) {
    const { records, next } = await reader.fetch(topic, partition, at)
    if (next === at) break
    at = next
    const wanted = records.filter(({ offset }) => Number(offset) < until)
    for (let place = 0; place < wanted.length; place += sliceEvents) {
      const slice = wanted.slice(place, place + sliceEvents).map((record) => ({ ...record, topic, partition }))
      const events = await eventsOf(slice, pipeline)
      const delivered = events.flatMap((event, nth): Delivered[] => {
        const offset = Number(slice[nth]?.offset)
        // Feeds and answers may be others than when it was delivered.
        return event ? [asDelivered(deliveredOf(offset, event, now()), accused.get(offset) ?? nothing)] : []
      })
      past.count(delivered, now())
      again += delivered.length
      await nextTurn()
    }
  }
  return again
}
