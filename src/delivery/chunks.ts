// A fetched batch → chunks of what is sent, bounded in count and bytes, whose lookups have all been started.
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
  /** How many events its records hold: a batch holds many. */
  readonly count: number
  /** False when the chunk is not to be delivered; what follows is complete when it is true. */
  readonly ready: boolean | Promise<boolean>
  /** What is sent of each record, in order. */
  readonly items: readonly (Item | readonly Item[])[]
  /** By place, the events that there may be alerts of; the others are dropped as soon as they are bytes. */
  readonly events: readonly EventOut[]
  /** What is to be told once its offsets have moved. */
  readonly listener: ChunkListener | undefined
  /** What the pipeline makes of one of the records now, if it has to be composed again. */
  readonly again: (record: Incoming) => Promise<EventOut | undefined>
}

/** What of a batch is in progress at the same time: a fetch that was compressed well can be hundreds of megabytes. */
const inProgressBytes = 4_194_304

const lastOf = (records: readonly Incoming[]): string => {
  const last = records.at(-1)
  return last ? readTo(last) : ''
}

const sizeOf = (record: Incoming): number => (record.value?.length ?? 0) + 32
const countOf = ({ batch }: Incoming): number => batch?.members.length ?? 1
/** How many events the records hold, once their batches are cut; a tombstone has none. */
export const eventCount = (records: readonly Incoming[]): number =>
  records.reduce((sum, record) => sum + (record.value === null ? 0 : countOf(record)), 0)

/** What was fetched, with batches cut into members, and counted in events: how many there are, and about how many come after. */
export type Counted = Pick<Fetched, 'records' | 'lag' | 'goesOn'> & { readonly events: number }

/** What is missing to read the records is waited for before: `prepare` of the pipeline says what. */
export const countEvents = (fetched: Fetched, pipeline: Pipeline): Counted => {
  const records = cutBatches(fetched.records, pipeline)
  const events = eventCount(records)
  const lag = Math.round((fetched.lag * events) / Math.max(1, records.length))
  return { records, events, lag, goesOn: fetched.goesOn }
}

/** The records, those that are batches with their members. */
export const cutBatches = <Record extends Incoming>(
  records: readonly Record[],
  { cut }: Pick<Pipeline, 'cut'>,
): readonly Record[] =>
  cut
    ? records.map((record) => {
        const batch = record.value === null || record.batch !== undefined ? undefined : cut(record.value, record)
        // Spreading every record would cost more than looking at it.
        return batch ? { ...record, batch } : record
      })
    : records

/** Of a partition that was just assigned: they are out before the many others of a backlog are answered. */
const firstRecords = 64

/** Parts of a batch that are processed one after the other: usually the whole is one. */
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

/**
 * Starts the lookups of all records before any of them is written: what is answered becomes bytes at once, the rest when its wait is
 * over.
 */
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

/** What belongs to a chunk next to its events: alerts, and what is noted of them. */
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
  // Whoever can cut batches has cut them.
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

/** What the pipeline makes of the records; undefined for a tombstone, which has no event. */
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
