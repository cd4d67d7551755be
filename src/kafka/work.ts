// A fetched batch → chunks that go through the line, bounded in count and bytes.
import type { EventIn, EventOut, Pipeline } from '../pipeline/pipeline.js'
import type { Incoming } from './compose.js'

export type Chunk = {
  readonly records: readonly Incoming[]
  readonly first: string
  readonly last: string
  /** What the line makes of the records; nothing stands for a tombstone, which has no event. */
  readonly events: () => Events | Promise<Events>
  /** The same in small parts, each made when the one before it was used; only where nothing was started beforehand. */
  readonly inParts?: ((use: Use) => undefined | Promise<undefined>) | undefined
  /** What the line makes of one of the records now, if it is needed once more. */
  readonly again: (record: Incoming) => Promise<EventOut | undefined>
}

type Events = readonly (EventOut | undefined)[]
type Use = (records: readonly Incoming[], events: Events) => void

/** Few enough that their events are dead before the young generation is collected, however many are sent together. */
const partEvents = 64

export const splitByCountAndBytes = <T>(
  items: readonly T[],
  sizeOf: (item: T) => number,
  max: { readonly count: number; readonly bytes: number },
): readonly (readonly T[])[] => {
  const parts: T[][] = []
  let part: T[] = []
  let bytes = 0
  for (const item of items) {
    const size = sizeOf(item)
    if (part.length > 0 && (part.length >= max.count || bytes + size > max.bytes)) {
      parts.push(part)
      part = []
      bytes = 0
    }
    part.push(item)
    bytes += size
  }
  if (part.length > 0) parts.push(part)
  return parts
}

/**
 * All of a batch's lookups start at once: the batch waits one deadline in all, not one a chunk. A partition that is behind waits
 * for none, and there a chunk begins when its turn comes: what is not yet in memory need not be thrown away again.
 */
export const startChunks = (
  records: readonly Incoming[],
  pipeline: Pipeline,
  behind: boolean,
  max: { readonly count: number; readonly bytes: number },
): readonly Chunk[] =>
  splitByCountAndBytes(records, (record) => (record.value?.length ?? 0) + 32, max).map((part) => {
    const started = behind ? undefined : throughTheLine(part, pipeline, false)
    return {
      records: part,
      first: part[0]?.offset ?? '',
      last: part.at(-1)?.offset ?? '',
      events: () => started ?? throughTheLine(part, pipeline, true),
      inParts: behind ? (use) => inParts(part, pipeline, use, 0) : undefined,
      again: async (record) => (await throughTheLine([record], pipeline, true))[0],
    }
  })

const throughTheLine = (
  records: readonly Incoming[],
  pipeline: Pipeline,
  behind: boolean,
): Events | Promise<Events> => {
  const events: EventIn[] = []
  for (const record of records) if (record.value !== null) events.push(eventOf(record, record.value))
  const out = pipeline(events, behind)
  return out instanceof Promise ? out.then((done) => align(records, done)) : align(records, out)
}

const inParts = (
  records: readonly Incoming[],
  pipeline: Pipeline,
  use: Use,
  from: number,
): undefined | Promise<undefined> => {
  for (let at = from; at < records.length; at += partEvents) {
    const part = records.slice(at, at + partEvents)
    const events = throughTheLine(part, pipeline, true)
    if (events instanceof Promise)
      return events.then((done) => {
        use(part, done)
        return inParts(records, pipeline, use, at + partEvents)
      })
    use(part, events)
  }
  return undefined
}

const eventOf = (record: Incoming, bytes: Buffer): EventIn => {
  const origin = record.origin ?? `${record.topic}/${record.partition}/${record.offset}`
  const time = Number(record.timestamp)
  const { key, former } = record
  return time >= 0 && time <= 8.64e15 ? { bytes, origin, key, former, time } : { bytes, origin, key, former }
}

const align = (records: readonly Incoming[], events: readonly EventOut[]): Events => {
  if (events.length === records.length) return events
  let next = 0
  return records.map((record) => (record.value === null ? undefined : events[next++]))
}
