// Members of foreign rows, read with care: number or text, bounded, and "no value" in all its spellings.
import type { DataRow } from './read-rows.js'

const nothing = new Set(['', 'n/a', 'unknown', 'null', 'none'])

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

/** A list as JSON has it, or text separated by commas or semicolons as CSV has it. */
export const textsOf = (row: DataRow, name: string, maxItems = 64): readonly string[] => {
  const value = row.get(name)
  const items = Array.isArray(value) ? value : typeof value === 'string' ? value.split(/[,;]/) : []
  return items
    .slice(0, maxItems)
    .filter((item): item is string => typeof item === 'string')
    .map((item) => item.trim().slice(0, 256))
    .filter((item) => item !== '')
}
