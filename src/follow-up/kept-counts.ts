// Keeps sighting counts in the state topic: restored in the background when a partition is assigned, and written as they change.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Pipeline } from '../pipeline/pipeline.js'
import type { CountedPartitions, OpenCounts } from './count-partitions.js'
import { accusedOf, isAccusing, lateAccusedOf, type Delivered, type SightingCounts } from './sighting-counts.js'
import type { LateEvents } from './follow-late.js'
import type { Emit } from '../telemetry/event.js'
import { keepCounts, type CountsToWrite } from './write-counts.js'
import type { TopicReader } from '../kafka/topic-reader.js'
import type { RestoreSource, StateFold, TaskState } from './restore-state.js'
import { restoreCounts } from './restore-counts.js'
import type { Task } from '../delivery/task.js'
import type { Outgoing } from '../kafka/records.js'
import { accusedValue, lateAccusedId, offsetValue } from './count-record.js'

export type KeptCountsOptions = {
  readonly groupId: string
  /** Annotates pending events, and registers for their answers. */
  readonly pipeline: Pipeline
  /** Annotates from the cache and feeds, without lookups. */
  readonly known: Pipeline
  readonly counts: Pick<CountedPartitions, 'separate'>
  /** Whether a host is one of our own. */
  readonly isInside: (host: string) => boolean
  /** Called when the earlier counts of a partition are restored. */
  readonly restored: () => void
  readonly emit: Emit
  readonly now: () => number
  readonly reachableMs: () => number
}

export type KeptCounts = {
  readonly open: (task: Task, own: OpenCounts, state: TaskState) => KeptPartition
  /** Writes the changes for the last time. */
  readonly flush: () => Promise<void>
  readonly close: () => void
}

type KeptPartition = {
  /** Records to write with a chunk: its accusations, and the start of counting if these are the first events since the assignment. */
  readonly records: (events: readonly Delivered[]) => readonly Outgoing[]
  /** Whether the earlier counts are restored. */
  readonly isRestored: () => boolean
  /** Whether the counts are in version 2 records. */
  readonly isKept: () => boolean
  /** Counts committed events, in order. */
  readonly count: (events: readonly Delivered[]) => void
  readonly late: LateEvents
  /** Call when the offsets have become meaningless: the topic's records describe other events. */
  readonly recreated: () => void
  readonly close: () => void
}

/**
 * During the restore the first live events are put aside: under at-least-once the former owner may have counted them already, which only
 * its restored counts can show.
 */
type Restoring = {
  readonly aside: Delivered[]
  /** Events whose answers arrived meanwhile. */
  readonly answered: Delivered[]
  isOfFormerTopic?: true
}
const maxAside = 20_000
/** Rows merged before the loop yields to other work. */
const sliceRows = 1_024
const none: readonly Outgoing[] = []

export const openKeptCounts = (options: KeptCountsOptions): KeptCounts => {
  const written = new Set<CountsToWrite>()
  const keeping = keepCounts({ ...options, partitions: () => written })
  return {
    open: (task, own, state) => openPartition(task, own, state, options, written),
    flush: keeping.flush,
    close: () => {
      keeping.close()
    },
  }
}

const openPartition = (
  task: Task,
  own: OpenCounts,
  state: TaskState,
  options: KeptCountsOptions,
  written: Set<CountsToWrite>,
): KeptPartition => {
  const { groupId, pipeline, known, counts, isInside, restored, emit, now } = options
  let unfinished: Restoring | undefined = { aside: [], answered: [] }
  /** End of the events committed since the assignment. */
  let liveUpTo: number | undefined
  /** End of the counted events, once restored. */
  let counted: number | undefined
  /** Accusation records in the topic, each with the offset from which the counts make it obsolete. */
  const accusing = new Map<string, number>()

  const mine = unfinished
  const beginReading: StateFold['begin'] = async (source) => {
    const { offset: claimed, reader, isOurs } = source
    if (mine.isOfFormerTopic) return { apply: () => true, end: () => takeIn(source, counts.separate(), 0, 0) }
    const past = counts.separate()
    const committed = async (): Promise<number> => {
      const offset = Number.isFinite(claimed) ? claimed : await committedIn(reader)
      return Math.min(offset, mine.aside[0]?.offset ?? offset)
    }
    const { apply, end } = await restoreCounts({
      reader,
      input: task,
      committed,
      pipeline,
      known,
      accusing,
      past,
      isInside,
      goesOn: isOurs,
      now,
    })
    return {
      apply,
      end: async () => {
        const events = await end()
        await takeIn(source, past, await committed(), events)
      },
    }
  }

  /** Merges the restored counts into the live ones. `events` is the number of events that were counted again. */
  const takeIn = async (
    { isOurs }: RestoreSource,
    past: SightingCounts,
    before: number,
    events: number,
  ): Promise<void> => {
    const { aside } = mine
    if (!isOurs()) return
    // No `await` until `unfinished` is cleared: an event put aside in between would be lost.
    past.count(aside, now())
    const until = aside.at(-1)?.offset ?? before - 1
    unfinished = undefined
    const live = own.counts()
    past.addedTo(live)
    let indicators = 0
    for (const { seen, isChanged } of past.all()) {
      live.add(seen, isChanged)
      if (++indicators % sliceRows === 0) await nextTurn()
      if (!isOurs()) return
    }
    live.answered(mine.answered, now())
    // Set it only now, because the first write needs complete counts.
    counted = Math.max(until + 1, liveUpTo ?? 0)
    emit({ event: 'counts_restored', topic: task.topic, partition: task.partition, indicators, events })
    restored()
  }

  const committedIn = async (reader: TopicReader): Promise<number> =>
    (await reader.committed(groupId, task.topic)).find((one) => one.partition === task.partition)?.offset ?? 0

  state.restore({
    kinds: ['count', 'counted', 'began', 'accused', 'pending'],
    isFirst: false,
    begin: beginReading,
  })

  const toWrite: CountsToWrite = {
    task,
    record: state.record,
    counts: own.counts,
    countedUpTo: () => counted,
    outdated: (upTo) => {
      const ids = [...accusing].filter(([, offset]) => offset < upTo).map(([id]) => id)
      for (const id of ids) accusing.delete(id)
      return ids.map((id) => state.record('accused', id, null))
    },
  }
  written.add(toWrite)

  return {
    isRestored: () => counted !== undefined,
    isKept: () => toWrite.writtenUpTo !== undefined,
    records: (events) => {
      const [first] = events
      if (!first) return none
      const accused = events.flatMap(accusedOf)
      const id = String(first.offset)
      const records = accused.length > 0 ? [state.record('accused', id, accusedValue(accused))] : []
      // Key each record by offset: a new owner must not overwrite a record of a killed owner that it has not read yet.
      return liveUpTo !== undefined ? records : [...records, state.record('began', id, offsetValue(first.offset))]
    },
    count: (events) => {
      const last = events.at(-1)
      if (!last) return
      const aside = unfinished?.aside
      if (aside && aside.length < maxAside) aside.push(...events)
      else own.counts().count(events, now())
      const first = events[0]?.offset ?? last.offset
      if (events.some(isAccusing)) accusing.set(String(first), first)
      liveUpTo = last.offset + 1
      if (counted !== undefined) counted = last.offset + 1
    },
    late: {
      records: (events) => {
        const accused = events.flatMap(lateAccusedOf)
        const last = Math.max(...accused.map(({ offset }) => offset))
        if (accused.length === 0) return none
        const id = lateAccusedId(last, now())
        accusing.set(id, last)
        return [state.record('accused', id, accusedValue(accused))]
      },
      written: (events) => {
        const answered = unfinished?.answered
        if (answered && answered.length < maxAside) answered.push(...events)
        else own.counts().answered(events, now())
      },
    },
    recreated: () => {
      if (unfinished) unfinished.isOfFormerTopic = true
    },
    close: () => void written.delete(toWrite),
  }
}
