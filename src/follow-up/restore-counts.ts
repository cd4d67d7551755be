// Restores the counts of an input partition from the state topic, and counts the later events again from the input topic.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { EventOut, Pipeline } from '../pipeline/pipeline.js'
import { accusedUpTo, type Accused, readAccused, readCount, readOffset } from './count-record.js'
import { dayMs } from './seen.js'
import { asDelivered, deliveredOf, keptDays, type Delivered, type SightingCounts } from './sighting-counts.js'
import { eventsOf } from '../delivery/chunks.js'
import type { TopicReader } from '../kafka/topic-reader.js'
import { createBlocks } from './sightings-topic.js'
import type { StateRecord } from './state-record.js'
import type { InputPartition } from '../kafka/fetched.js'

type RestoreCounts = {
  readonly reader: Pick<TopicReader, 'fetch' | 'offsetsAt' | 'writtenEnd'>
  readonly input: InputPartition
  /** Offset up to which earlier owners delivered; asked when the topic is read. */
  readonly committed: () => Promise<number>
  /** Annotates pending events without waiting. */
  readonly pipeline: Pipeline
  /** Annotates all other events from the cache alone: they had their answers, so no lookup is repeated. */
  readonly known: Pipeline
  /** Receives the accusation records in the topic, each with the offset from which the counts make it obsolete. */
  readonly accusing: Map<string, number>
  /** Receives the restored counts; live events are counted elsewhere. */
  readonly past: SightingCounts
  /** Whether a host is one of our own. */
  readonly isInside: (host: string) => boolean
  readonly goesOn: () => boolean
  readonly now: () => number
}

/** Limit on events to count again: after a long gap in the state topic the rest is skipped. */
const maxAgain = 500_000
const sliceEvents = 256
/** Limit on accusations that are not in the counts yet: half a minute in which every event is malicious. */
const maxAccusedBytes = 8_388_608

type FoldingCounts = {
  /** False for a record that cannot be ours. */
  readonly apply: (record: StateRecord) => boolean
  /** Call once all records are applied. Resolves with the number of events counted again. */
  readonly end: () => Promise<number>
}

export const restoreCounts = async (options: RestoreCounts): Promise<FoldingCounts> => {
  const { reader, input, committed, accusing, past, isInside, now } = options
  const oldest = Math.floor(now() / dayMs) - keptDays
  let counted: number | undefined
  let began = Infinity
  const accusedBy = new Map<string, readonly Accused[]>()
  /** The pending notes of each chunk. */
  const blocks = createBlocks({ max: Infinity, dropped: () => undefined })
  let accusedBytes = 0
  /** Rejects counts beyond the end of the input topic or too far in the future. One day of tolerance allows for clock skew. */
  const inputEnd = await reader.writtenEnd(input.topic, input.partition)
  const newest = Math.floor(now() / dayMs) + 1

  const applyOffset = (value: Buffer, use: (offset: number) => void): boolean => {
    const offset = readOffset(value)
    if (offset === undefined || offset > inputEnd) return false
    use(offset)
    return true
  }
  const applyAccused = (id: string, value: Buffer, version: StateRecord['version']): boolean => {
    const upTo = accusedUpTo(id)
    accusedBytes += value.length
    if (upTo === undefined || accusedBytes > maxAccusedBytes) return false
    if (version === 2) accusing.set(id, upTo)
    accusedBy.set(id, readAccused(value))
    return true
  }
  const applyCount = (id: string, value: Buffer, version: StateRecord['version']): boolean => {
    const seen = readCount(id, value, isInside)
    if (!seen || seen.day > newest || seen.lastOffset >= inputEnd) return false
    if (seen.day > oldest) past.restore(seen, version === 1)
    return true
  }
  return {
    apply: (record) => {
      const { kind, id, value, version } = record
      if (kind === 'pending') return blocks.apply(record)
      if (!value) {
        if (kind === 'accused' && accusedBy.delete(id)) accusing.delete(id)
        return true
      }
      if (kind === 'accused') return applyAccused(id, value, version)
      if (kind === 'count') return applyCount(id, value, version)
      if (kind === 'counted') return applyOffset(value, (offset) => (counted = offset))
      return applyOffset(value, (offset) => (began = Math.min(began, offset)))
    },
    end: async () => {
      const until = await committed()
      // Without counts, start where counting began: all earlier owners may have ended before their first write.
      const from = Math.max(counted ?? began, until - maxAgain)
      const all = [...accusedBy.values()].flat()
      const told = new Set(all.flatMap(({ values }) => values))
      const notes = blocks.all().flatMap((block) => block.notes)
      past.settleUnawaited(awaitedWithin(notes.map(({ offset }) => offset)), (value) => told.has(value))
      const accused = new Map<number, ReadonlySet<string>>()
      for (const { offset, values } of all)
        accused.set(offset, new Set([...(accused.get(offset) ?? nothing), ...values]))
      const noted = new Map(
        notes.filter(({ offset }) => offset >= from).map(({ offset, isFree }) => [offset, isFree] as const),
      )
      return countAgain(from, until, { accused, noted }, options)
    },
  }
}

/** Whether an event within the offsets, both included, waits for an answer. */
const awaitedWithin = (noted: readonly number[]): ((firstOffset: number, lastOffset: number) => boolean) => {
  const offsets = Float64Array.from(noted).sort()
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

type AccusedAt = ReadonlyMap<number, ReadonlySet<string>>
const nothing: ReadonlySet<string> = new Set()

/** Counting is idempotent per offset. */
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
        // Feeds and answers may have changed since delivery.
        return event ? [asDelivered(deliveredOf(offset, event, now()), accused.get(offset) ?? nothing)] : []
      })
      past.count(delivered, now())
      again += delivered.length
      await nextTurn()
    }
  }
  return again
}
