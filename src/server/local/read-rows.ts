// Rows of a CSV or NDJSON file, one map a row; what is no row is counted and left out.
import { readFileSync } from 'node:fs'
import { splitRow } from '../../feeds/csv.js'
import { forEachLine } from '../../feeds/lines.js'

export type DataRow = ReadonlyMap<string, unknown>

const maxRowLength = 1_048_576

/** `take` returns false when enough was read; `skipped` is given the line of each unusable row. */
export const readRows = (file: string, take: (row: DataRow) => boolean, skipped: (line: number) => void): void => {
  const bytes = readFileSync(file)
  if (file.toLowerCase().endsWith('.csv')) readCsv(bytes, take, skipped)
  else readNdjson(bytes, take, skipped)
}

const readNdjson = (bytes: Buffer, take: (row: DataRow) => boolean, skipped: (line: number) => void): void => {
  forEachLine(bytes, (line, number) => {
    if (line.trim() === '') return true
    const row = line.length > maxRowLength ? undefined : objectOf(line)
    if (row) return take(row)
    skipped(number)
    return true
  })
}

const objectOf = (line: string): DataRow | undefined => {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? new Map(Object.entries(value))
      : undefined
  } catch {
    return undefined
  }
}

/** A quoted cell may hold line ends; a row that never closes its quotes is given up after a bounded length. */
const readCsv = (bytes: Buffer, take: (row: DataRow) => boolean, skipped: (line: number) => void): void => {
  let header: readonly string[] | undefined
  let open = ''
  let openLine = 0
  forEachLine(bytes, (line, number) => {
    if (open === '' && line.trim() === '') return true
    if (open === '') openLine = number
    const text = open === '' ? line : `${open}\n${line}`
    const cells = splitRow(text, ',')
    open = cells || text.length > maxRowLength ? '' : text
    if (!cells) {
      if (open === '') skipped(openLine)
      return true
    }
    if (!header) header = cells
    else if (cells.length === header.length) return take(new Map(header.map((name, i) => [name, cells[i]])))
    else skipped(openLine)
    return true
  })
  if (open !== '') skipped(openLine)
}
