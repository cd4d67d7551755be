// Restores the counts of an input partition: what the sightings topic holds, and the events since, which are read again.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { EventOut, Pipeline } from '../pipeline/pipeline.js'
import { accusedKey, beganKey, countedKey, readAccused, readAccusing, readCount, readCounted } from './count-record.js'
import { dayMs } from './seen.js'
import { asDelivered, deliveredOf, keptDays, type Delivered, type SightingCounts } from './sighting-counts.js'
import { eventsOf } from '../delivery/chunks.js'
import type { TopicReader } from '../kafka/topic-reader.js'
import type { WireRecord } from '../kafka/wire/record.js'
import { notesIn, pendingKey } from './sightings-topic.js'
import type { DueNote } from './pending.js'
import type { Task } from '../delivery/task.js'
import type { InputPartition } from '../kafka/fetched.js'

type RestoreCounts = {
  readonly reader: Pick<TopicReader, 'fetch' | 'offsetsAt' | 'writtenEnd'>
  /** Calls with every record that its log in the sightings topic holds, in order. */
  readonly eachRecord: (use: (record: WireRecord) => void) => Promise<void>
  readonly input: InputPartition & Pick<Task, 'name'>
  /** Up to where the events are counted by others; asked when the topic is read. */
  readonly committed: () => Promise<number>
  /** Annotates without waiting events that wait for an answer. */
  readonly pipeline: Pipeline
  /** Annotates the others with what is known: they were answered once, and are not asked about again. */
  readonly known: Pipeline
  /** Filled with the records about accusations that are in the topic, and the offset after which each is needed no longer. */
  readonly accusing: Map<string, number>
  /** Where they are put: no live event is counted in it. */
  readonly past: SightingCounts
  /** Whether it is one of our own hosts. */
  readonly isInside: (host: string) => boolean
  /** Called with how many records cannot be ours, if some cannot. */
  readonly refused: (records: number) => void
  readonly goesOn: () => boolean
  readonly now: () => number
}

/** Events that are read again at most: a topic that was not written for long is no reason to read everything. */
const maxAgain = 500_000
const sliceEvents = 256
/** What is accused and not yet in the counts: half a minute of a flood of nothing else. */
const maxAccusedBytes = 8_388_608

/** Resolves with how many events were read again. */
export const restoreCounts = async (options: RestoreCounts): Promise<number> => {
  const { reader, eachRecord, input, committed, accusing, past, isInside, now } = options
  const { name } = input
  const start = `${name}/`
  const countedUpTo = countedKey(name)
  const beganStart = beganKey(name)
  const oldest = Math.floor(now() / dayMs) - keptDays
  let counted: number | undefined
  let began = Infinity
  const accusedStart = accusedKey(name)
  const pendingStart = pendingKey(input)
  const accused: AccusedAt = new Map()
  /** Of each chunk: its events that wait for an answer. */
  const blocks = new Map<string, readonly DueNote[]>()
  let accusedBytes = 0
  let refused = 0
  /** Nothing is counted that is not there, and nothing of a day that has yet to come: another clock may be ahead. */
  const inputEnd = await reader.writtenEnd(input.topic, input.partition)
  const newest = Math.floor(now() / dayMs) + 1
  await eachRecord(({ key, value }) => {
    const text = key?.toString() ?? ''
    if (!text.startsWith(start)) return
    blocks.delete(text)
    if (!value) return
    if (text === countedUpTo || text.startsWith(beganStart)) {
      const offset = readCounted(value)
      if (offset === undefined || offset > inputEnd) refused++
      else if (text === countedUpTo) counted = offset
      else began = Math.min(began, offset)
    } else if (text.startsWith(accusedStart)) {
      const record = readAccusing(text, name)
      accusedBytes += value.length
      if (record === undefined || accusedBytes > maxAccusedBytes) refused++
      else {
        accusing.set(record.id, record.offset)
        for (const { offset, values } of readAccused(value))
          accused.set(offset, new Set([...(accused.get(offset) ?? nothing), ...values]))
      }
    } else if (text.startsWith(pendingStart)) blocks.set(text, notesIn(text.slice(pendingStart.length), value))
    else {
      const row = readCount(text, value, isInside)
      if (row?.partition !== name || row.seen.day > newest || row.seen.lastOffset >= inputEnd) refused++
      else if (row.seen.day > oldest) past.restore(row.seen)
    }
  })
  if (refused > 0) options.refused(refused)
  const until = await committed()
  // Its owners may all have ended before they wrote counts for the first time.
  const from = Math.max(counted ?? began, until - maxAgain)
  const told = new Set([...accused.values()].flatMap((values) => [...values]))
  past.settleUnawaited(awaitedWithin(blocks.values()), (value) => told.has(value))
  const noted = new Map(
    [...blocks.values()].flatMap((notes) =>
      notes.filter(({ offset }) => offset >= from).map(({ offset, isFree }) => [offset, isFree] as const),
    ),
  )
  return countAgain(from, until, { accused, noted }, options)
}

/** Whether an event at one of these offsets, or between them, waits for an answer. */
const awaitedWithin = (
  blocks: Iterable<readonly DueNote[]>,
): ((firstOffset: number, lastOffset: number) => boolean) => {
  const offsets = Float64Array.from([...blocks].flatMap((notes) => notes.map(({ offset }) => offset))).sort()
  return (firstOffset, lastOffset) => {
    let [from, to] = [0, offsets.length]
    while (from < to) {
      const middle = (from + to) >> 1
      if ((offsets[middle] as number) < firstOffset) from = middle + 1
      else to = middle
    }
    return (offsets[from] ?? Infinity) <= lastOffset
  }
}

type AccusedAt = Map<number, ReadonlySet<string>>
const nothing: ReadonlySet<string> = new Set()

/** What a row has counted already it does not count again. */
const countAgain = async (
  from: number,
  until: number,
  { accused, noted }: { readonly accused: AccusedAt; readonly noted: ReadonlyMap<number, boolean | undefined> },
  { reader, input, pipeline, known, past, goesOn, now }: RestoreCounts,
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
      const isNoted = ({ offset }: { readonly offset: string }): boolean => noted.has(Number(offset))
      const answered = slice.filter((record) => !isNoted(record))
      const waiting = slice.filter(isNoted).map((record) => ({ ...record, isFree: noted.get(Number(record.offset)) }))
      const eventOf = new Map<string, EventOut | undefined>()
      for (const [some, by] of [
        [answered, known],
        [waiting, pipeline],
      ] as const)
        // prettier-ignore
        for (const [nth, event] of (await eventsOf(some, by)).entries()) eventOf.set(some[nth]?.offset ?? '', event)
      const delivered = slice.flatMap((record): Delivered[] => {
        const event = eventOf.get(record.offset)
        const offset = Number(record.offset)
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
