// Splits a fetched batch into chunks, bounded in count and bytes, and starts all their lookups.
import { sliceEvents } from '../pipeline/batch/batch-pipeline.js'
import type { EventIn, EventOut, Pipeline } from '../pipeline/pipeline.js'
import type { Wait } from '../pipeline/enrich/wait.js'
import type { Item } from './compose.js'
import { composeItem, type OutputForm, type RefusedRecords, splitByCountAndBytes } from './deliver.js'
import type { Fetched } from '../kafka/fetched.js'
import { hasOurHeaders } from './our-headers.js'
import { placeIn, readTo, type Incoming, type Outgoing } from '../kafka/records.js'
import type { ChunkListener, PartitionState } from './listener.js'

export type Chunk = {
  readonly records: readonly Incoming[]
  readonly first: string
  readonly last: string
  /** Number of events in its records; a batch record holds several. */
  readonly count: number
  /** False if the chunk must not be delivered. Once it is true, `items` and `events` are complete. */
  readonly ready: boolean | Promise<boolean>
  /** The composed output of each record, in order. */
  readonly items: readonly (Item | readonly Item[])[]
  /** Events that may raise alerts, by record index. All others are dropped once they are serialized, to save memory. */
  readonly events: readonly EventOut[]
  /** Notified once the offsets of the chunk have moved. */
  readonly listener: ChunkListener | undefined
  /** Annotates one of the records again, for composing it anew after a refusal. */
  readonly again: (record: Incoming) => Promise<EventOut | undefined>
}

/** Limit on the bytes in progress: a fetch that compressed well can unpack to hundreds of megabytes. */
const inProgressBytes = 4_194_304

const lastOf = (records: readonly Incoming[]): string => {
  const last = records.at(-1)
  return last ? readTo(last) : ''
}

const sizeOf = (record: Incoming): number => (record.value?.length ?? 0) + 32
const countOf = ({ batch }: Incoming): number => batch?.members.length ?? 1
/** Number of events in the records, once batches are cut. A tombstone has none. */
export const eventCount = (records: readonly Incoming[]): number =>
  records.reduce((sum, record) => sum + (record.value === null ? 0 : countOf(record)), 0)

/** A fetch with its batches cut into members. `events` counts its events, and `lag` estimates the events behind it. */
export type Counted = Pick<Fetched, 'records' | 'lag' | 'goesOn'> & { readonly events: number }

/** Call after `pipeline.prepare`, which loads everything needed to read the records. */
export const countEvents = (fetched: Fetched, pipeline: Pipeline): Counted => {
  const records = cutBatches(fetched.records, pipeline)
  const events = eventCount(records)
  const lag = Math.round((fetched.lag * events) / Math.max(1, records.length))
  return { records, events, lag, goesOn: fetched.goesOn }
}

/** Cuts each record that is a batch into its members. */
export const cutBatches = <Record extends Incoming>(
  records: readonly Record[],
  { cut }: Pick<Pipeline, 'cut'>,
): readonly Record[] =>
  cut
    ? records.map((record) => {
        const batch = record.value === null || record.batch !== undefined ? undefined : cut(record.value, record)
        // Copy only batch records: a copy of every record would cost more than this check.
        return batch ? { ...record, batch } : record
      })
    : records

/** Size of the first part after an assignment, so that the first output does not wait for the lookups of a whole backlog. */
const firstRecords = 64

/** Splits a batch into parts that are processed in turn; usually there is only one. */
export const splitBatch = (records: readonly Incoming[], isFirst: boolean): readonly (readonly Incoming[])[] => {
  if (isFirst && records.length > firstRecords)
    return [records.slice(0, firstRecords), ...splitBatch(records.slice(firstRecords), false)]
  return splitByCountAndBytes(records, sizeOf, { count: Infinity, bytes: inProgressBytes })
}

export type ChunkOptions = {
  readonly pipeline: Pipeline
  readonly wait: Wait
  readonly form: OutputForm
  readonly max: { readonly count: number; readonly bytes: number }
  readonly refused?: RefusedRecords | undefined
  readonly state?: Pick<PartitionState, 'chunk'> | undefined
  readonly topicId?: string | undefined
}

/** Starts the lookups of all records before it writes any. An event becomes bytes as soon as it is answered, or when its wait is over. */
export const startChunks = async (records: readonly Incoming[], options: ChunkOptions): Promise<readonly Chunk[]> => {
  const { pipeline, wait, form, max, refused } = options
  const chunks: Chunk[] = []
  for (const part of splitByCountAndBytes(records, sizeOf, max, countOf)) {
    const items: (Item | readonly Item[])[] = []
    const events: EventOut[] = []
    const now = form.now()
    const listener = options.state?.chunk(options.topicId)
    const finish = (place: number, event: EventOut | undefined): void => {
      const record = part[place] as Incoming
      items[place] = composeItem(record, event, form, now, refused)
      if (!event) return
      if (form.mayAlert?.(event)) events[place] = event
      listener?.see(Number(readTo(record)), event)
    }
    const waits: Promise<boolean>[] = []
    let isWanted = true
    let from = 0
    tellForged(part, form.emit)
    for (const slice of splitByCountAndBytes(part, sizeOf, { count: sliceEvents, bytes: Infinity }, countOf)) {
      const through = startSlice(slice, from, finish, pipeline, wait)
      from += slice.length
      if (through instanceof Promise) waits.push(through)
      else isWanted &&= through
      const turn = wait.turn()
      if (turn) await turn
    }
    chunks.push({
      records: part,
      first: part[0]?.offset ?? '',
      last: lastOf(part),
      count: eventCount(part),
      ready: waits.length === 0 ? isWanted : Promise.all(waits).then((all) => isWanted && all.every((one) => one)),
      items,
      events,
      listener,
      again: async (record) => (await eventsOf([record], pipeline))[0],
    })
  }
  return chunks
}

/** The alerts and notes that are written with a chunk. */
export const attachmentsOf = ({ events, listener }: Pick<Chunk, 'events' | 'listener'>): readonly Outgoing[] =>
  listener?.records(Object.values(events)) ?? none

const tellForged = (records: readonly Incoming[], emit: OutputForm['emit']): void => {
  const forged = records.filter(({ headers }) => hasOurHeaders(headers)).length
  if (forged > 0) emit({ event: 'forged_headers_removed', records: forged })
}

const none: readonly Outgoing[] = []

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
  // A pipeline that can cut batches has already done so.
  const batch = pipeline.cut ? null : undefined
  for (const record of records) {
    if (record.value === null) finish(place, undefined)
    else {
      events.push(eventOf(record, record.value, batch))
      places.push(place)
    }
    place++
  }
  return pipeline(events, (event, nth) => finish(places[nth] ?? 0, event), wait)
}

/** Annotates the records. The result is undefined for a tombstone, which has no event. */
export const eventsOf = async (
  records: readonly Incoming[],
  pipeline: Pipeline,
): Promise<readonly (EventOut | undefined)[]> => {
  const events: (EventOut | undefined)[] = []
  const prepared = pipeline.prepare?.(records)
  if (prepared) await prepared
  await startSlice(cutBatches(records, pipeline), 0, (place, event) => void (events[place] = event), pipeline)
  return events
}

const eventOf = (record: Incoming, bytes: Buffer, none: null | undefined): EventIn => {
  const origin = record.origin ?? `${record.topic}/${record.partition}/${placeIn(record)}`
  const time = Number(record.timestamp)
  const { key, former, formers, batch = none, isFree } = record
  return { bytes, origin, key, former, formers, batch, isFree, time: time >= 0 && time <= 8.64e15 ? time : undefined }
}
