// Runs searches in slices: per turn of the event loop a key gets a fixed number of row tests, shared by all its searches.
import type { Search } from './search.js'

/** Every matching row, in the order of the index. */
export type FindRows = <DataRow>(
  asker: string,
  rows: readonly DataRow[],
  search: Pick<Search<DataRow>, 'test' | 'terms'>,
) => Promise<DataRow[]>

/** A test compares a few texts, so a turn takes some milliseconds. */
const testsPerTurn = 2_000
/** Not worth a turn. */
const fewTests = 200

export const createFindRows = (): FindRows => {
  /** Waiting searches by client; the first entry is next. */
  const waiting = new Map<string, (() => void)[]>()
  const nextTurn = (): void => {
    for (const [asker, searches] of waiting) {
      searches.shift()?.()
      if (searches.length === 0) waiting.delete(asker)
    }
    if (waiting.size > 0) setImmediate(nextTurn)
  }
  const turnOf = (asker: string): Promise<void> =>
    new Promise((resume) => {
      const searches = waiting.get(asker)
      if (searches) {
        searches.push(resume)
        return
      }
      if (waiting.size === 0) setImmediate(nextTurn)
      waiting.set(asker, [resume])
    })
  return async (asker, rows, { test, terms }) => {
    const slice = Math.max(1, Math.floor(testsPerTurn / terms))
    const found: (typeof rows)[number][] = []
    for (let from = 0; from < rows.length; from += slice) {
      if (rows.length * terms > fewTests) await turnOf(asker)
      for (const row of rows.slice(from, from + slice)) if (test(row)) found.push(row)
    }
    return found
  }
}
