// Compiles a query into one row test; the index compiles each filter once.
import type { Query } from './query.js'

type RowTest<DataRow> = (row: DataRow) => boolean
/** Compiles the value of a filter; undefined if it is invalid for the field. */
export type FieldFilter<DataRow> = (value: string) => RowTest<DataRow> | undefined

export type Search<DataRow> = {
  readonly test: RowTest<DataRow>
  /** The maximum number of tests per row. */
  readonly terms: number
  readonly filters: Readonly<Record<string, readonly string[]>>
  /** The words and phrases outside of filters. */
  readonly keyword: string
  /** Unknown filters and filters with an invalid value; a search with one finds nothing. */
  readonly invalidFilters: readonly string[]
}

export const compileQuery = <DataRow>(
  query: Query,
  fields: ReadonlyMap<string, FieldFilter<DataRow>>,
  freeText: (row: DataRow) => readonly (string | undefined)[],
): Search<DataRow> => {
  const filters = new Map<string, string[]>()
  const words: string[] = []
  const invalidFilters: string[] = []
  const groups = query.groups.map((terms) =>
    terms.map(({ field, value, isNegated }): RowTest<DataRow> => {
      const test = field === undefined ? containsWord(value, freeText) : fields.get(field)?.(value)
      if (field === undefined) words.push(value)
      else filters.set(field, [...(filters.get(field) ?? []), value])
      if (!test) {
        invalidFilters.push(`${field ?? ''}:${value}`)
        return () => false
      }
      return isNegated ? (row) => !test(row) : test
    }),
  )
  return {
    test: invalidFilters.length > 0 ? () => false : (row) => groups.some((tests) => tests.every((test) => test(row))),
    terms: groups.reduce((count, tests) => count + tests.length, 0),
    filters: Object.fromEntries(filters),
    keyword: words.join(' '),
    invalidFilters,
  }
}

const containsWord = <DataRow>(
  value: string,
  freeText: (row: DataRow) => readonly (string | undefined)[],
): RowTest<DataRow> => {
  const wanted = value.toLowerCase()
  return (row) => freeText(row).some((text) => text?.toLowerCase().includes(wanted) === true)
}

export const pageSize = 10
export const highestOffset = 9_900

/** Filters that most indexes share. */
export const equalsText =
  <DataRow>(read: (row: DataRow) => string | undefined): FieldFilter<DataRow> =>
  (value) => {
    const wanted = value.toLowerCase()
    return (row) => read(row)?.toLowerCase() === wanted
  }

export const containsText =
  <DataRow>(read: (row: DataRow) => string | undefined): FieldFilter<DataRow> =>
  (value) => {
    const wanted = value.toLowerCase()
    return (row) => read(row)?.toLowerCase().includes(wanted) === true
  }

export const equalsNumber =
  <DataRow>(read: (row: DataRow) => number | undefined): FieldFilter<DataRow> =>
  (value) => {
    if (!/^\d{1,10}$/.test(value)) return undefined
    const wanted = Number(value)
    return (row) => read(row) === wanted
  }

export const hasText =
  <DataRow>(read: (row: DataRow) => readonly string[]): FieldFilter<DataRow> =>
  (value) => {
    const wanted = value.toLowerCase()
    return (row) => read(row).some((item) => item.toLowerCase() === wanted)
  }

/** Texts that begin with an ISO date compare alphabetically. */
export const notBefore =
  <DataRow>(read: (row: DataRow) => string | undefined): FieldFilter<DataRow> =>
  (value) =>
    /^\d{4}-\d{2}-\d{2}$/.test(value) ? (row) => (read(row) ?? '') >= value : undefined
