// Reads a range of one partition to its end, as the events were first read.
import { FatalKafkaError } from '../kafka/failure.js'
import type { ReplayRange } from './plan.js'
import type { TopicReader } from '../kafka/topic-reader.js'
import { annotationOf, restore, type Restored, type RestoreOptions } from './restore.js'
import type { Tally } from './tally.js'
import type { Incoming } from '../kafka/records.js'

export type RangeOptions = RestoreOptions & {
  readonly topic: string
  /** Only events with a record time in it, where given: from, and up to but without. */
  readonly times?: readonly [from: number, to: number] | undefined
  /** Of annotated events only those that left before an answer. */
  readonly only?: 'pending' | undefined
  readonly signal: AbortSignal
}

/** Fetches in a row that brought nothing although there is something; each waits a tenth of a second. */
const maxEmptyFetches = 300

/** Calls `each` for every fetch, which returns the offset to continue at. Ends by position: the last offsets may hold no event. */
export const readRange = async (
  reader: TopicReader,
  reading: RangeOptions,
  { partition, start, end }: ReplayRange,
  each: (records: readonly Restored[], next: number, left: Pick<Tally, 'pointers' | 'deleted'>) => Promise<number>,
): Promise<void> => {
  const { topic, times, only, signal } = reading
  let empty = 0
  for (let at = start; at < end && !signal.aborted;) {
    const { records, next, deleted } = await reader.fetch(topic, partition, at)
    if (next === at && ++empty > maxEmptyFetches)
      throw new FatalKafkaError(
        `${topic}/${partition} returns nothing from offset ${at} on, although it ends at ${end}`,
      )
    if (next === at) continue
    empty = 0
    const restored: Restored[] = []
    let pointers = 0
    for (const record of records) {
      if (Number(record.offset) >= end) break
      const time = Number(record.timestamp)
      if (times && (time < times[0] || time >= times[1])) continue
      if (only === 'pending' && annotationOf(record, reading.readWritten).isPending !== true) continue
      const incoming: Incoming = { ...record, topic, partition }
      const one = restore(incoming, reading)
      if (one) restored.push(one)
      else pointers++
    }
    const reached = Math.min(next, end)
    // Behind it there is nothing more to read.
    const last = restored.pop()
    if (last) restored.push({ ...last, readTo: String(reached - 1) })
    at = await each(restored, reached, { pointers, deleted: Math.min(deleted, end - at) })
  }
}
