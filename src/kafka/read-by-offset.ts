// Reads single records of a partition again by their offsets, in order; neighbours come with one fetch.
import type { Incoming } from '../delivery/compose.js'
import type { TopicReader } from './topic-reader.js'
import type { InputPartition } from '../delivery/delivery.js'

/** A broker answers with at least one whole record batch, however large; more than that is wanted only where many are near. */
const fetchBytes = { few: 65_536, many: 1_048_576 }
const many = { offsets: 16, within: 1_000 }

export type ReadAgain = {
  readonly records: readonly Incoming[]
  /** Offsets whose record is no longer there. */
  readonly gone: readonly number[]
  /** Offsets that were not read, because of the limit. */
  readonly rest: readonly number[]
}

/** `offsets` in ascending order. Ends after the record with which `maxBytes` are reached. */
export const readByOffset = async (
  { fetch, offsetsAt }: Pick<TopicReader, 'fetch' | 'offsetsAt'>,
  { topic, partition }: InputPartition,
  offsets: readonly number[],
  maxBytes: number,
): Promise<ReadAgain> => {
  const records: Incoming[] = []
  const gone: number[] = []
  // Beyond the end there is nothing if the topic was deleted and created again.
  const end = (await offsetsAt(topic, 'latest')).get(partition)
  // Not gone: the reader may know the topic from before the partition was added.
  if (end === undefined) throw new Error(`topic ${topic} had no partition ${partition} when its metadata were read`)
  let bytes = 0
  let at = 0
  while (at < offsets.length && bytes < maxBytes) {
    const from = offsets[at] as number
    if (from >= end) {
      gone.push(...offsets.slice(at))
      return { records, gone, rest: [] }
    }
    const areNear = (offsets[at + many.offsets] ?? Infinity) < from + many.within
    const fetched = await fetch(topic, partition, from, areNear ? fetchBytes.many : fetchBytes.few)
    const found = new Map(fetched.records.map((record) => [Number(record.offset), record]))
    // A fetch that brings nothing has nothing to bring: the record was read before, so it is not one that is still to come.
    const next = Math.max(fetched.next, from + 1)
    for (; at < offsets.length && (offsets[at] as number) < next; at++) {
      const record = found.get(offsets[at] as number)
      if (!record) {
        gone.push(offsets[at] as number)
        continue
      }
      const { offset, timestamp, key, value, headers } = record
      records.push({ topic, partition, offset, timestamp, key, value, headers })
      bytes += value?.length ?? 0
    }
  }
  return { records, gone, rest: offsets.slice(at) }
}
