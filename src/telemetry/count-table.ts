// A table of counters over two closed sets of labels, complete from the start.

type CountTable = {
  /** Ignores labels that are not in the sets. */
  readonly add: (row: string, column: string, times?: number) => void
  readonly get: (row: string, column: string) => number
  readonly read: () => readonly (readonly [row: string, column: string, value: number])[]
}

export const createCountTable = (rows: readonly string[], columns: readonly string[]): CountTable => {
  const rowAt = new Map(rows.map((name, place) => [name, place * columns.length]))
  const columnAt = new Map(columns.map((name, place) => [name, place]))
  const values = new Float64Array(rows.length * columns.length)
  const placeOf = (row: string, column: string): number => (rowAt.get(row) ?? NaN) + (columnAt.get(column) ?? NaN)
  return {
    add: (row, column, times = 1) => {
      const place = placeOf(row, column)
      if (place >= 0) values[place] = (values[place] ?? 0) + times
    },
    get: (row, column) => values[placeOf(row, column)] ?? 0,
    read: () =>
      rows.flatMap((row, at) =>
        columns.map((column, place) => [row, column, values[at * columns.length + place] ?? 0] as const),
      ),
  }
}
