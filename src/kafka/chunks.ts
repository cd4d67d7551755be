// A fetched batch → chunks of what is sent, bounded in count and bytes, whose lookups have all been started.
import type { EventIn, EventOut, Pipeline } from '../pipeline/pipeline.js'
import type { Wait } from '../pipeline/wait.js'
import type { Incoming } from './compose.js'
import { composeItem, type Deliver, type Item, type Refused } from './deliver.js'
import type { ChunkSightings } from './sightings.js'
import { splitByCountAndBytes } from './split-by-count-and-bytes.js'

export type Chunk = {
  readonly records: readonly Incoming[]
  readonly first: string
  readonly last: string
  /** False when the chunk is not to be delivered; what follows is complete when it is true. */
  readonly ready: boolean | Promise<boolean>
  /** What is sent, in order. */
  readonly items: readonly Item[]
  /** The events, if alerts are raised for them; otherwise they are dropped as soon as they are bytes. */
  readonly events: readonly EventOut[]
  /** What is to be told once its offsets have moved. */
  readonly sightings: ChunkSightings | undefined
  /** What the pipeline makes of one of the records now, if it has to be composed again. */
  readonly again: (record: Incoming) => Promise<EventOut | undefined>
}

/** After this many events the event loop may turn to something else. */
const sliceEvents = 64

/** What of a batch is in progress at the same time: a fetch that was compressed well can be hundreds of megabytes. */
const inProgressBytes = 4_194_304

const sizeOf = (record: Incoming): number => (record.value?.length ?? 0) + 32

/** Parts of a batch that are processed one after the other: usually the whole is one. */
export const splitBatch = (records: readonly Incoming[]): readonly (readonly Incoming[])[] =>
  splitByCountAndBytes(records, sizeOf, { count: Infinity, bytes: inProgressBytes })

export type ChunkOptions = {
  readonly pipeline: Pipeline
  readonly wait: Wait
  readonly how: Deliver
  readonly max: { readonly count: number; readonly bytes: number }
  readonly refused?: Refused | undefined
}

/**
 * Starts the lookups of all records before any of them is written: what is answered becomes bytes at once, the rest when its wait is
 * over.
 */
export const startChunks = async (records: readonly Incoming[], options: ChunkOptions): Promise<readonly Chunk[]> => {
  const { pipeline, wait, how, max, refused } = options
  const chunks: Chunk[] = []
  for (const part of splitByCountAndBytes(records, sizeOf, max)) {
    const items: Item[] = []
    const events: EventOut[] = []
    const now = how.now()
    const sightings = part[0] && how.sightingsOf?.(part[0])
    const finish = (place: number, event: EventOut | undefined): void => {
      const record = part[place] as Incoming
      items[place] = composeItem(record, event, how, now, refused)
      if (!event) return
      if (how.alertsOf) events[place] = event
      sightings?.see(Number(record.offset), event)
    }
    const waits: Promise<boolean>[] = []
    let isWanted = true
    for (let from = 0; from < part.length; from += sliceEvents) {
      const through = startSlice(part.slice(from, from + sliceEvents), from, finish, pipeline, wait)
      if (through instanceof Promise) waits.push(through)
      else isWanted &&= through
      const turn = wait.turn()
      if (turn) await turn
    }
    chunks.push({
      records: part,
      first: part[0]?.offset ?? '',
      last: part.at(-1)?.offset ?? '',
      ready: waits.length === 0 ? isWanted : Promise.all(waits).then((all) => isWanted && all.every((one) => one)),
      items,
      events,
      sightings,
      again: async (record) => (await eventsOf([record], pipeline))[0],
    })
  }
  return chunks
}

const startSlice = (
  records: readonly Incoming[],
  from: number,
  finish: (place: number, event: EventOut | undefined) => void,
  pipeline: Pipeline,
  wait?: Wait,
): boolean | Promise<boolean> => {
  const events: EventIn[] = []
  const places: number[] = []
  let place = from
  for (const record of records) {
    if (record.value === null) finish(place, undefined)
    else {
      events.push(eventOf(record, record.value))
      places.push(place)
    }
    place++
  }
  return pipeline(events, (event, nth) => finish(places[nth] ?? 0, event), wait)
}

/** What the pipeline makes of the records; undefined for a tombstone, which has no event. */
export const eventsOf = async (
  records: readonly Incoming[],
  pipeline: Pipeline,
): Promise<readonly (EventOut | undefined)[]> => {
  const events: (EventOut | undefined)[] = []
  await startSlice(records, 0, (place, event) => void (events[place] = event), pipeline)
  return events
}

const eventOf = (record: Incoming, bytes: Buffer): EventIn => {
  const origin = record.origin ?? `${record.topic}/${record.partition}/${record.offset}`
  const time = Number(record.timestamp)
  const { key, former } = record
  return time >= 0 && time <= 8.64e15 ? { bytes, origin, key, former, time } : { bytes, origin, key, former }
}
