// Renders a text table with aligned, clipped columns and no control characters.
import { printable } from '../domain/control-characters.js'

export type Column = { readonly title: string; readonly align?: 'right'; readonly max?: number }

export const renderTable = (columns: readonly Column[], rows: readonly (readonly string[])[]): string => {
  const clean = rows.map((row) => columns.map((column, place) => clip(printable(row[place] ?? ''), column.max ?? 60)))
  const widths = columns.map((column, place) =>
    Math.max(column.title.length, ...clean.map((row) => row[place]?.length ?? 0)),
  )
  const line = (cells: readonly string[]): string =>
    columns
      .map((column, place) => {
        const cell = cells[place] ?? ''
        const width = widths[place] ?? 0
        return column.align === 'right' ? cell.padStart(width) : cell.padEnd(width)
      })
      .join('  ')
      .trimEnd()
  return [line(columns.map(({ title }) => title)), line(widths.map((width) => '-'.repeat(width))), ...clean.map(line)]
    .map((text) => `${text}\n`)
    .join('')
}

const clip = (text: string, max: number): string => (text.length <= max ? text : `${text.slice(0, max - 1)}…`)
