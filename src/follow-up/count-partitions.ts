// The sighting counts of all input partitions of this process, which share one limit.
import type { AlertOut } from '../delivery/compose.js'
import type { Written } from '../delivery/delivery.js'
import type { Task } from '../delivery/task.js'
import type { Indicator } from '../domain/indicator.js'
import { createSightingCounts, type CountOptions, type SightingCounts } from './sighting-counts.js'

/** Indicators, once per day and partition; 76 bytes each. */
const maxCounted = 3_000_000

/** The counts of one assigned partition. */
export type CountedPartition = {
  /** `topic/partition` */
  readonly name: string
  /** Others, once they begin anew. */
  readonly counts: () => SightingCounts
  /** Writes alerts about indicators on behalf of the partition, and notes there that they were alerted on. */
  readonly writeAlerts: WriteRetroAlerts
}

/** `too_early`: what they are about is not known again yet. */
export type WriteRetroAlerts = (
  alerts: readonly AlertOut[],
  about: readonly Indicator[],
) => Promise<Written | 'too_early'>

export type OpenCounts = CountedPartition & {
  /** Its offsets mean nothing any more, or what was counted is read again. */
  readonly beginAnew: () => void
  readonly close: () => void
}

export type CountedPartitions = {
  readonly open: (task: Pick<Task, 'name'>, writeAlerts: WriteRetroAlerts) => OpenCounts
  /** For merging what was counted elsewhere: it shares the limit, but nobody else finds it. */
  readonly separate: () => SightingCounts
  readonly all: () => ReadonlySet<CountedPartition>
  readonly size: () => CountSize
}

export type CountSize = {
  readonly rows: number
  readonly bytes: number
  /** Indicators of days that were dropped because there was no room for newer ones. */
  readonly evicted: number
  /** Sightings that were not counted because even the current day was too much. */
  readonly uncounted: number
}

/** The oldest day of all partitions goes first; of the newest one nothing is dropped, and what is new then is not counted. */
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
    // Days that were dropped meanwhile are noticed here only: counting them along would cost every event.
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
