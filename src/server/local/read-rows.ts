// Rows of a CSV or NDJSON file, one map a row; what is no row is counted and left out.
import { readFileSync } from 'node:fs'
import { forEachRow } from '../../feeds/csv-rows.js'
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

const readCsv = (bytes: Buffer, take: (row: DataRow) => boolean, skipped: (line: number) => void): void => {
  let header: readonly string[] | undefined
  const skip = (line: number): boolean => {
    skipped(line)
    return true
  }
  const takeCells = (cells: readonly string[], line: number): boolean => {
    if (header && cells.length !== header.length) return skip(line)
    if (header) return take(new Map(header.map((name, column) => [name, cells[column]])))
    header = cells
    return true
  }
  forEachRow(bytes, { separator: ',', maxLength: maxRowLength }, takeCells, skip)
}
