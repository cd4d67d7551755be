// Reads the rows of a CSV or NDJSON file as maps; counts and skips invalid ones.
import { readFileSync } from 'node:fs'
import { forEachRow } from '../../feeds/csv-rows.js'
import { forEachLine } from '../../feeds/lines.js'

export type DataRow = ReadonlyMap<string, unknown>

const maxRowLength = 1_048_576

/** `take` returns false to stop; `skipped` gets the line of each unusable row. */
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

const nothing = new Set(['', 'n/a', 'unknown', 'null', 'none'])

/** Reads bounded text from untrusted rows: a number or text, and undefined for any form of "no value". */
export const textOf = (row: DataRow, name: string, maxLength = 1_024): string | undefined => {
  const value = row.get(name)
  if (typeof value === 'number' && Number.isFinite(value)) return String(value)
  if (typeof value !== 'string' || nothing.has(value.trim().toLowerCase())) return undefined
  return value.length > maxLength ? value.slice(0, maxLength) : value
}

export const numberOf = (row: DataRow, name: string): number | undefined => {
  const value = row.get(name)
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  if (typeof value !== 'string' || !/^-?\d{1,15}(\.\d{1,15})?$/.test(value.trim())) return undefined
  return Number(value)
}

export const integerOf = (row: DataRow, name: string): number | undefined => {
  const value = numberOf(row, name)
  return value === undefined || !Number.isSafeInteger(value) ? undefined : value
}

export const booleanOf = (row: DataRow, name: string): boolean | undefined => {
  const value = row.get(name)
  if (typeof value === 'boolean') return value
  if (value === 1 || value === 0) return value === 1
  if (typeof value !== 'string') return undefined
  const word = value.toLowerCase()
  return word === 'true' || word === '1' ? true : word === 'false' || word === '0' ? false : undefined
}

/** A JSON list, or CSV text separated by commas or semicolons. */
export const textsOf = (row: DataRow, name: string, maxItems = 64): readonly string[] => {
  const value = row.get(name)
  const items = Array.isArray(value) ? value : typeof value === 'string' ? value.split(/[,;]/) : []
  return items
    .slice(0, maxItems)
    .filter((item): item is string => typeof item === 'string')
    .map((item) => item.trim().slice(0, 256))
    .filter((item) => item !== '')
}
