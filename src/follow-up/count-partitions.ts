// The sighting counts of all input partitions of this process, which share one limit.
import { createSightingCounts, type CountOptions, type SightingCounts } from './sighting-counts.js'

/** Indicators, once per day and partition; 68 bytes each. */
const maxCounted = 3_000_000

export type CountedPartitions = {
  readonly of: (partition: string) => SightingCounts
  /** For merging what was counted elsewhere: it shares the limit, but nobody else finds it. */
  readonly separate: () => SightingCounts
  readonly all: () => ReadonlyMap<string, SightingCounts>
  readonly forget: (partition: string) => void
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
  const partitions = new Map<string, SightingCounts>()
  let left = max
  let evicted = 0
  let uncounted = 0

  const rows = (): number => [...partitions.values()].reduce((sum, counts) => sum + counts.rows(), 0)

  const hasRoom = (day: number): boolean => {
    if (left > 0) {
      left--
      return true
    }
    // Days that were dropped meanwhile are noticed here only: counting them along would cost every event.
    for (left = max - rows(); left <= 0; left = max - rows()) {
      const [oldest] = [...partitions.values()].toSorted((one, other) => one.oldestDay() - other.oldestDay())
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
    of: (partition) => {
      const known = partitions.get(partition)
      if (known) return known
      const made = apart()
      partitions.set(partition, made)
      return made
    },
    separate: apart,
    all: () => partitions,
    forget: (partition) => {
      uncounted += partitions.get(partition)?.uncounted() ?? 0
      partitions.delete(partition)
    },
    size: () => {
      const all = [...partitions.values()]
      return {
        rows: rows(),
        bytes: all.reduce((sum, counts) => sum + counts.bytes(), 0),
        evicted,
        uncounted: all.reduce((sum, counts) => sum + counts.uncounted(), uncounted),
      }
    },
  }
}
