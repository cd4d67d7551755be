// Restores the counts of an input partition: what the sightings topic holds, and the events since, which are read again.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Judged } from '../domain/verdict.js'
import type { Pipeline } from '../pipeline/pipeline.js'
import { beganKey, countedKey, readCount, readCounted, type CountedUpTo } from '../sightings/count-record.js'
import { dayMs } from '../sightings/seen.js'
import { deliveredOf, keptDays, type Delivered, type SightingCounts } from '../sightings/sighting-counts.js'
import { eventsOf } from './chunks.js'
import { readUpTo } from './read-to-end.js'
import type { TopicReader } from './replay/topic-reader.js'
import { nameOf, type InputPartition } from './sightings.js'
import type { TopicOf } from './sightings-topic.js'

export type RestoreCounts = {
  readonly reader: Pick<TopicReader, 'fetch' | 'offsetsAt'>
  readonly topic: TopicOf
  readonly input: InputPartition
  /** The end of its log in the sightings topic. */
  readonly end: number
  /** Up to where the events are counted by others; asked when the topic is read. */
  readonly committed: () => Promise<number>
  /** Annotates without waiting. */
  readonly pipeline: Pipeline
  /** The feeds in use now, as a digest. */
  readonly feeds: () => string
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
  const { reader, topic, input, end, committed, past, goesOn, now } = options
  const name = nameOf(input)
  const start = `${name}/`
  const beganStart = beganKey(name)
  const oldest = Math.floor(now() / dayMs) - keptDays
  let counted: CountedUpTo | undefined
  const began: CountedUpTo[] = []
  await readUpTo(
    reader,
    { topic: topic.topic, partition: input.partition % topic.partitions, end },
    ({ key, value }) => {
      const text = key?.toString() ?? ''
      if (!text.startsWith(start) || !value) return
      if (text === countedKey(name)) counted = readCounted(value)
      else if (text.startsWith(beganStart)) began.push(...[readCounted(value)].filter((one) => one !== undefined))
      const row = readCount(text, value)
      if (row && row.partition === name && row.seen.day > oldest) past.restore(row.seen)
    },
    goesOn,
  )
  const until = await committed()
  began.sort((one, other) => one.offset - other.offset)
  // Its owners may all have ended before they wrote counts for the first time.
  const from = counted?.offset ?? began[0]?.offset ?? Infinity
  const judgedBy = (offset: number): string | undefined =>
    began.findLast((one) => one.offset <= offset && one.offset >= from)?.feeds ?? (counted ?? began[0])?.feeds
  return countAgain(Math.max(from, until - maxAgain), until, judgedBy, options)
}

/** What a row has counted already it does not count again. `judgedBy`: the feeds by which an event was judged when it was delivered. */
const countAgain = async (
  from: number,
  until: number,
  judgedBy: (offset: number) => string | undefined,
  { reader, input, pipeline, feeds, past, goesOn, now }: RestoreCounts,
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
      const before = feeds()
      const events = await eventsOf(slice, pipeline)
      const judgedNow = feeds() === before ? before : undefined
      const delivered = events.flatMap((event, nth): Delivered[] => {
        const offset = Number(slice[nth]?.offset)
        if (!event) return []
        const one = deliveredOf(offset, event, now())
        return [judgedNow !== undefined && judgedBy(offset) === judgedNow ? one : withoutListings(one)]
      })
      past.count(delivered, now())
      again += delivered.length
      await nextTurn()
    }
  }
  return again
}

/**
 * An event that was judged by other feeds: whether it was delivered as listed is not known. It counts as if it was not, so that a retro alert
 * is raised: one too many rather than none.
 */
const withoutListings = ({ judged, members, ...rest }: Delivered): Delivered => ({
  ...rest,
  judged: judged.map(withoutListing),
  members: members?.map((member) => member.map(withoutListing)),
})

const withoutListing = (one: Judged): Judged =>
  one.verdict.feed === undefined ? one : { ...one, verdict: { level: 'unknown', flags: {}, because: '' } }
