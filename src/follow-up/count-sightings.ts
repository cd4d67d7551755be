// Counts the sightings in delivered events, and writes retro alerts about indicators that turn malicious later.
import type { CountedPartitions, CountSize, WriteRetroAlerts } from './count-partitions.js'
import type { Retro } from './retro.js'
import { deliveredOf, type Delivered } from './sighting-counts.js'
import type { Pipeline } from '../pipeline/pipeline.js'
import type { Emit } from '../telemetry/event.js'
import { alertRecord } from '../delivery/compose.js'
import { openKeptCounts, type KeptCounts, type KeptCountsOptions } from './kept-counts.js'
import type { LateEvents } from './follow-late.js'
import type { Task } from '../delivery/task.js'
import type { TopicOf } from './state-record.js'
import type { TaskState } from './restore-state.js'
import { countId, countValue } from './count-record.js'
import type { PartitionState } from '../delivery/listener.js'

export type Counting = {
  readonly counts: CountedPartitions
  /** Annotates from the cache and feeds, without lookups. */
  readonly known: Pipeline
  /** Whether a host is one of our own. */
  readonly isInside: (host: string) => boolean
  readonly retro: Omit<Retro, 'start'>
  /** Starts the retro alerts. */
  readonly start: () => void
}

type CountSightingsOptions = {
  readonly counting: Counting
  readonly alertsTopic: TopicOf
  /** Settings for keeping counts for the next owner of a partition; absent if counts stay in memory only. */
  readonly keep?: Pick<KeptCountsOptions, 'groupId' | 'pipeline' | 'reachableMs'> | undefined
  readonly emit: Emit
  readonly now: () => number
}

/** Log interval for sightings that did not fit. */
const reportMs = 60_000

type CountSightings = {
  /** `state` is absent if no state is kept. */
  readonly open: (task: Task, state: TaskState | undefined) => CountedState
  /** Writes the counts. Call once delivery has stopped. */
  readonly flush: () => Promise<void>
  readonly close: () => Promise<void>
}

type CountedState = PartitionState & {
  readonly late: LateEvents
  /** Whether the counts are in version 2 records. */
  readonly isKept: () => boolean
}

export const countSightings = (options: CountSightingsOptions): CountSightings => {
  const { counting, keep, emit, now } = options
  const { counts, known, isInside, retro } = counting
  counting.start()
  const kept = keep && openKeptCounts({ ...keep, counts, known, isInside, restored: retro.restored, emit, now })

  let reported: Pick<CountSize, 'evicted' | 'uncounted'> = { evicted: 0, uncounted: 0 }
  const report = (): void => {
    const { evicted, uncounted } = counts.size()
    const more = { evicted: evicted - reported.evicted, uncounted: uncounted - reported.uncounted }
    reported = { evicted, uncounted }
    if (more.evicted + more.uncounted > 0) emit({ event: 'sightings_not_counted', ...more })
  }
  const reports = setInterval(report, reportMs).unref()

  return {
    open: (task, state) => countPartition(task, state, options, kept),
    flush: () => kept?.flush() ?? Promise.resolve(),
    close: async () => {
      clearInterval(reports)
      kept?.close()
      await retro.close()
      report()
    },
  }
}

const countPartition = (
  task: Task,
  state: TaskState | undefined,
  { counting, alertsTopic, now }: CountSightingsOptions,
  keptCounts: Pick<KeptCounts, 'open'> | undefined,
): CountedState => {
  const { counts, retro } = counting
  /** Writes the alerts and the mark that they were sent as one unit. */
  const writeAlerts: WriteRetroAlerts = async (alerts, about) => {
    let takeBack: readonly (() => void)[] = []
    const undo = (): void => {
      for (const one of takeBack) one()
      takeBack = []
    }
    // Wait for the restore: the sightings were counted before it, and a mark written earlier would be lost.
    const attempt = { isTooEarly: false }
    const written = await task.write(() => {
      undo()
      attempt.isTooEarly = kept?.isRestored() === false
      if (attempt.isTooEarly) return []
      const { alerted, days } = own.counts()
      takeBack = about.map(alerted)
      return [
        ...alerts.map((alert) => alertRecord(alertsTopic.topic, alertsTopic.partitions, alert, now())),
        ...(state ? about.flatMap(days).map((seen) => state.record('count', countId(seen), countValue(seen))) : []),
      ]
    })
    if (written === 'closed') undo()
    return attempt.isTooEarly ? 'too_early' : written
  }
  const own = counts.open(task, writeAlerts)
  const kept = state && keptCounts?.open(task, own, state)
  return {
    chunk: () => {
      const events: Delivered[] = []
      let version: number | undefined
      let last = -1
      let isInOrder = true
      return {
        see: (offset, event) => {
          version ??= retro.version()
          isInOrder &&= offset >= last
          last = offset
          events.push(deliveredOf(offset, event, now()))
        },
        records: () => {
          // Events that waited for an answer are annotated after the others.
          if (!isInOrder) events.sort((one, other) => one.offset - other.offset)
          return kept?.records(events) ?? []
        },
        committed: () => {
          if (version === undefined) return
          if (kept) kept.count(events)
          else own.counts().count(events, now())
          retro.committed(version)
        },
      }
    },
    late: kept?.late ?? {
      records: () => [],
      written: (events) => own.counts().answered(events, now()),
    },
    isKept: () => kept?.isKept() ?? true,
    recreated: () => {
      own.beginAnew()
      kept?.recreated()
    },
    close: () => {
      kept?.close()
      own.close()
      return Promise.resolve()
    },
  }
}
