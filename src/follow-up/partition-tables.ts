// The day tables of one input partition, and the numbering of the inside hosts in them.
import type { Indicator } from '../domain/indicator.js'
import { createDayTable, type DayRow, type DayTable } from './day-table.js'
import { together, type SeenOnDay } from './seen.js'

type PartitionTables = {
  readonly of: (day: number) => DayTable
  /** The row of an indicator, added if there is room; otherwise -1. */
  readonly rowOf: (day: number, indicator: Indicator) => number
  /** -1 if there are too many hosts. */
  readonly hostNumber: (host: string) => number
  /** Oldest day first. */
  readonly each: (indicator: Indicator, use: (table: DayTable, row: number) => void) => void
  readonly tables: () => readonly DayTable[]
  readonly dropUpTo: (day: number) => void
} & KeptTables

/** The operations for storing and restoring counts. */
export type KeptTables = {
  readonly days: (indicator: Indicator) => readonly SeenOnDay[]
  readonly onDay: (day: number, indicator: Indicator) => SeenOnDay | undefined
  /** The changes since the last call. Lazy, so that the caller may pause in between. */
  readonly takeChanged: () => Generator<Pick<SeenOnDay, 'day' | 'indicator'>>
  /** All rows, each with its change flag since the last call. */
  readonly all: () => Generator<{ readonly seen: SeenOnDay; readonly isChanged: boolean }>
  /** Sets stored counts, unless the present count is higher. `isChanged` marks the row for the next write. */
  readonly restore: (seen: SeenOnDay, isChanged?: boolean) => void
  /** Adds counts over different events. `isChanged` marks the row for the next write. */
  readonly add: (seen: SeenOnDay, isChanged: boolean) => void
  readonly oldestDay: () => number
  readonly dropDay: (day: number) => void
  readonly rows: () => number
  readonly bytes: () => number
  /** Sightings of indicators without room. */
  readonly uncounted: () => number
}

/** Limit on distinct inside hosts; sightings by further ones are counted without their host. */
const maxHosts = 65_536

export type TableOptions = {
  readonly seed: number
  /** Whether another indicator may be counted for a day; called for every new one. */
  readonly hasRoom: (day: number) => boolean
}

export const createPartitionTables = ({ seed, hasRoom }: TableOptions): PartitionTables => {
  const days = new Map<number, DayTable>()
  const hosts: string[] = []
  const hostNumbers = new Map<string, number>()
  let uncounted = 0

  const of = (day: number): DayTable => {
    const known = days.get(day)
    if (known) return known
    const made = createDayTable(seed)
    days.set(day, made)
    return made
  }

  const rowOf = (day: number, indicator: Indicator, events = 1): number => {
    const table = of(day)
    const row = table.find(indicator)
    if (row >= 0) return row
    if (hasRoom(day)) return table.add(indicator)
    uncounted += events
    return -1
  }

  const hostNumber = (host: string): number => {
    const known = hostNumbers.get(host)
    if (known !== undefined || hosts.length >= maxHosts) return known ?? -1
    hostNumbers.set(host, hosts.length)
    return hosts.push(host) - 1
  }

  const named = (row: DayRow, day: number): SeenOnDay => ({
    ...row,
    day,
    peers: row.peers.map((number) => hosts[number] ?? ''),
  })

  const inOrder = (): readonly [number, DayTable][] => [...days].toSorted(([one], [other]) => one - other)

  const set = (seen: SeenOnDay, next: (known: SeenOnDay) => SeenOnDay, isChanged: boolean): void => {
    const at = rowOf(seen.day, seen.indicator, seen.count)
    if (at < 0) return
    const table = of(seen.day)
    const known = named(table.read(at), seen.day)
    const row = next(known)
    const peers = row.peers.map(hostNumber).filter((number) => number >= 0)
    table.restore(at, { ...row, peers }, isChanged)
  }

  return {
    of,
    rowOf,
    hostNumber,
    each: (indicator, use) => {
      for (const [, table] of inOrder()) {
        const row = table.find(indicator)
        if (row >= 0) use(table, row)
      }
    },
    tables: () => [...days.values()],
    dropUpTo: (last) => {
      for (const day of days.keys()) if (day <= last) days.delete(day)
    },
    days: (indicator) =>
      inOrder().flatMap(([day, table]) => {
        const row = table.find(indicator)
        return row < 0 ? [] : [named(table.read(row), day)]
      }),
    onDay: (day, indicator) => {
      const table = days.get(day)
      const row = table?.find(indicator) ?? -1
      return table && row >= 0 ? named(table.read(row), day) : undefined
    },
    *takeChanged() {
      for (const [day, table] of inOrder())
        if (table.takeAnyChanged())
          for (let row = 0; row < table.size(); row++)
            if (table.takeChanged(row)) yield { day, indicator: table.at(row) }
    },
    *all() {
      for (const [day, table] of inOrder())
        for (let row = 0; row < table.size(); row++)
          yield { isChanged: table.takeChanged(row), seen: named(table.read(row), day) }
    },
    restore: (seen, isChanged = false) => set(seen, (known) => (known.count <= seen.count ? seen : known), isChanged),
    add: (seen, isChanged) => {
      const isKnown = of(seen.day).find(seen.indicator) >= 0
      set(seen, (known) => (isKnown ? together(known, seen) : seen), isChanged || isKnown)
    },
    oldestDay: () => Math.min(...days.keys()),
    dropDay: (day) => void days.delete(day),
    rows: () => sum(days.values(), (table) => table.size()),
    bytes: () => sum(days.values(), (table) => table.bytes()),
    uncounted: () => uncounted,
  }
}

const sum = <One>(all: Iterable<One>, of: (one: One) => number): number => {
  let total = 0
  for (const one of all) total += of(one)
  return total
}
