// Reads a range of one partition to its end, and restores the original events.
import { FatalKafkaError } from '../kafka/failure.js'
import type { ReplayRange } from './plan.js'
import type { TopicReader } from '../kafka/topic-reader.js'
import { annotationOf, restore, type Restored, type RestoreOptions } from './restore.js'
import type { Tally } from './tally.js'
import type { Incoming } from '../kafka/records.js'

export type RangeOptions = RestoreOptions & {
  readonly topic: string
  /** Limits the events by record time, from the first value up to the second, exclusive. */
  readonly times?: readonly [from: number, to: number] | undefined
  /** Limits annotated events to those delivered before an answer. */
  readonly only?: 'pending' | undefined
  readonly signal: AbortSignal
}

/** Limit on consecutive empty fetches before the end of the range; each waits a tenth of a second. */
const maxEmptyFetches = 300

/**
 * Calls `each` for every fetch, which returns the offset to continue at. The range ends by position, because its last offsets may contain
 * no event.
 */
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
    // Extend the last record to the end of the fetch: the offsets after it hold no more events.
    const last = restored.pop()
    if (last) restored.push({ ...last, readTo: String(reached - 1) })
    at = await each(restored, reached, { pointers, deleted: Math.min(deleted, end - at) })
  }
}
