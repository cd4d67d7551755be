// Reads the verdicts topic from before the start of this process: newest first, one fetch at a time, up to the capacity of the memory.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Indicator } from '../domain/indicator.js'
import type { Fetch, TopicReader } from '../kafka/topic-reader.js'
import type { WireRecord } from '../kafka/wire/record.js'
import type { Emit } from '../telemetry/event.js'
import type { SharedVerdict } from './verdict-record.js'

type Reader = Pick<TopicReader, 'offsetsAt'>

type OlderOptions<Given extends Reader> = {
  readonly topic: string
  /** The end offsets of partitions at the start. */
  readonly ends: ReadonlyMap<number, number>
  readonly fetch: (
    reader: Given,
    partition: number,
    from: number,
    limit: { readonly maxBytes: number },
  ) => Promise<Fetch>
  /** Returns the valid verdicts of some records. */
  readonly read: (records: readonly WireRecord[]) => readonly SharedVerdict[]
  /** Whether it was news. */
  readonly learn: (verdict: SharedVerdict) => boolean
  readonly touch: (indicator: Indicator) => void
  readonly isFull: () => boolean
  readonly now: () => number
  readonly emit: Emit
}

export type ReadOlder<Given> = {
  /** One fetch; false when all useful records have been read. After a failure the next call retries. */
  readonly step: (reader: Given) => Promise<boolean>
  readonly learnt: () => number
  /** Whether all useful verdicts fit into the memory. */
  readonly isWhole: () => boolean
}

type Range = { readonly partition: number; readonly from: number; readonly end: number }

const hourMs = 3_600_000
/** Up to nine days, the maximum age of a served finding. */
const slicesMs = [1, 6, 24, 72, 216].map((hours) => hours * hourMs)
/** The records per range, which are read forwards and applied in reverse: at 4 KiB each, at most 20 MB. */
const rangeSize = 5_000
/** The estimated record size, slightly high, because bytes fetched beyond a range are fetched again. */
const usualBytes = 450
/** The records per turn of the event loop: a few milliseconds. */
const turnSize = 100
const fetchBytes = 1_048_576

export const createReadOlder = <Given extends Reader>(options: OlderOptions<Given>): ReadOlder<Given> => {
  const { topic, ends, fetch, read, learn, touch, isFull, now, emit } = options
  let ranges: Range[] | undefined
  let next = 0
  let inRange: SharedVerdict[] = []
  const learnt: Indicator[] = []
  let count = 0
  let isWhole = true

  const learnRange = async (): Promise<void> => {
    // In reverse, so that no record replaces a later one, and the memory fills with the newest.
    const newestFirst = inRange.toReversed()
    inRange = []
    for (const [nth, verdict] of newestFirst.entries()) {
      if (isFull()) {
        isWhole = false
        break
      }
      if (learn(verdict)) learnt.push(verdict.indicator)
      if (nth % turnSize === turnSize - 1) await nextTurn()
    }
    if (learnt.length > count) emit({ event: 'verdicts_learnt', verdicts: learnt.length - count })
    count = learnt.length
  }

  /** Restores the LRU order by time: reading newest first has made the newest entries the first to evict. */
  const touchAll = async (): Promise<void> => {
    while (learnt.length > 0) {
      for (const indicator of learnt.splice(-turnSize).toReversed()) touch(indicator)
      await nextTurn()
    }
  }

  const step = async (reader: Given): Promise<boolean> => {
    ranges ??= await planRanges(reader, topic, ends, now())
    const [range] = ranges
    if (!range || isFull()) {
      isWhole &&= !range
      ranges = []
      await touchAll()
      return false
    }
    next = Math.max(next, range.from)
    const maxBytes = Math.min(fetchBytes, (range.end - next) * usualBytes)
    const fetched = await fetch(reader, range.partition, next, { maxBytes })
    const records = fetched.records.filter(({ offset }) => Number(offset) < range.end)
    for (let first = 0; first < records.length; first += turnSize) {
      inRange.push(...read(records.slice(first, first + turnSize)))
      await nextTurn()
    }
    const isStuck = fetched.next <= next
    next = fetched.next
    if (next >= range.end || isStuck) {
      ranges.shift()
      next = 0
      await learnRange()
    }
    return true
  }
  return { step, learnt: () => count, isWhole: () => isWhole }
}

/** Newest time slice first; within a slice, partitions alternate, from their ends backwards. */
const planRanges = async (
  reader: Reader,
  topic: string,
  ends: ReadonlyMap<number, number>,
  time: number,
): Promise<Range[]> => {
  const first = await reader.offsetsAt(topic, 'earliest')
  const ranges: Range[] = []
  let upper = ends
  for (const sliceMs of slicesMs) {
    const found = await reader.offsetsAt(topic, time - sliceMs)
    // Brokers return no offset for a time after the last record.
    const startOf = (partition: number, end: number): number => {
      const offset = found.get(partition) ?? -1
      return Math.max(first.get(partition) ?? 0, offset < 0 ? end : Math.min(offset, end))
    }
    const lower = new Map([...upper].map(([partition, end]) => [partition, startOf(partition, end)]))
    const cut = [...upper].flatMap(([partition, end]) => cutRange(partition, lower.get(partition) ?? end, end))
    ranges.push(...cut.toSorted((one, other) => one.nth - other.nth).map(({ range }) => range))
    upper = lower
  }
  return ranges
}

const cutRange = (partition: number, from: number, end: number): { readonly nth: number; readonly range: Range }[] =>
  Array.from({ length: Math.ceil(Math.max(0, end - from) / rangeSize) }, (_, nth) => ({
    nth,
    range: { partition, from: Math.max(from, end - (nth + 1) * rangeSize), end: end - nth * rangeSize },
  }))
