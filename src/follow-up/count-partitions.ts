// The sighting counts of all input partitions of this process, under one shared limit.
import type { AlertOut } from '../delivery/compose.js'
import type { Written } from '../delivery/delivery.js'
import type { Task } from '../delivery/task.js'
import type { Indicator } from '../domain/indicator.js'
import { createSightingCounts, type CountOptions, type SightingCounts } from './sighting-counts.js'

/** Indicators, each counted once per day and partition. */
const maxCounted = 3_000_000

/** The counts of one assigned partition. */
export type CountedPartition = {
  /** `topic/partition` */
  readonly name: string
  /** A new object after `beginAnew`. */
  readonly counts: () => SightingCounts
  /** Writes alerts about indicators for the partition, and marks the indicators as alerted there. */
  readonly writeAlerts: WriteRetroAlerts
}

/** `too_early`: the counts are not restored yet. */
export type WriteRetroAlerts = (
  alerts: readonly AlertOut[],
  about: readonly Indicator[],
) => Promise<Written | 'too_early'>

export type OpenCounts = CountedPartition & {
  /** Call when the offsets have become meaningless, or when the events are counted again. */
  readonly beginAnew: () => void
  readonly close: () => void
}

export type CountedPartitions = {
  readonly open: (task: Pick<Task, 'name'>, writeAlerts: WriteRetroAlerts) => OpenCounts
  /** Counts for merging. They share the limit but are not listed in `all`. */
  readonly separate: () => SightingCounts
  readonly all: () => ReadonlySet<CountedPartition>
  readonly size: () => CountSize
}

export type CountSize = {
  readonly rows: number
  readonly bytes: number
  /** Indicators of days that were dropped to make room for newer ones. */
  readonly evicted: number
  /** Sightings without room, even after all older days were dropped. */
  readonly uncounted: number
}

/**
 * When the limit is reached, the oldest day of all partitions is dropped first. The newest day is never dropped; new indicators of that
 * day are not counted.
 */
export const countPartitions = (
  { seed, judge }: Omit<CountOptions, 'hasRoom'>,
  max: number = maxCounted,
): CountedPartitions => {
  const partitions = new Set<CountedPartition>()
  let left = max
  let evicted = 0
  let uncounted = 0

  const all = (): readonly SightingCounts[] => [...partitions].map(({ counts }) => counts())
  const rows = (): number => all().reduce((sum, counts) => sum + counts.rows(), 0)

  const hasRoom = (day: number): boolean => {
    if (left > 0) {
      left--
      return true
    }
    // Rows dropped by retention are noticed only here, because tracking them would cost time on every event.
    for (left = max - rows(); left <= 0; left = max - rows()) {
      const [oldest] = all().toSorted((one, other) => one.oldestDay() - other.oldestDay())
      if (!oldest || oldest.oldestDay() >= day) return false
      const before = oldest.rows()
      oldest.dropDay(oldest.oldestDay())
      evicted += before - oldest.rows()
    }
    left--
    return true
  }

  const apart = (): SightingCounts => createSightingCounts({ seed, judge, hasRoom })
  return {
    open: ({ name }, writeAlerts) => {
      let counts = apart()
      const end = (): void => {
        uncounted += counts.uncounted()
      }
      const opened: OpenCounts = {
        name,
        counts: () => counts,
        writeAlerts,
        beginAnew: () => {
          end()
          counts = apart()
        },
        close: () => {
          end()
          partitions.delete(opened)
        },
      }
      partitions.add(opened)
      return opened
    },
    separate: apart,
    all: () => partitions,
    size: () => ({
      rows: rows(),
      bytes: all().reduce((sum, counts) => sum + counts.bytes(), 0),
      evicted,
      uncounted: all().reduce((sum, counts) => sum + counts.uncounted(), uncounted),
    }),
  }
}
