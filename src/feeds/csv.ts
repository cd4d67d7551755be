// CSV with named columns: quoted fields, comments, and headers that stand in a comment.
import type { Columns, Details, ParseProblem, Parser, Sink } from './feed.js'
import { forEachLine } from './lines.js'
import { parseTimestamp } from './timestamp.js'

const delimiters = [',', ';', '\t', '|']
const maxRowLength = 65_536
/** A row is split again with each further line, so there may not be many. */
const maxRowLines = 64
const maxFields = 256
const quote = 34

/** Undefined when a quoted field is still open at the end of the text. */
export const splitRow = (row: string, delimiter: string): string[] | undefined => {
  const fields: string[] = []
  let at = 0
  while (fields.length < maxFields) {
    let start = at
    while (row.charCodeAt(start) === 32) start++
    if (row.charCodeAt(start) !== quote) {
      const end = row.indexOf(delimiter, at)
      fields.push(row.slice(at, end < 0 ? row.length : end).trim())
      if (end < 0) break
      at = end + 1
      continue
    }
    let field = ''
    let from = start + 1
    for (;;) {
      const end = row.indexOf('"', from)
      if (end < 0) return undefined
      field += row.slice(from, end)
      if (row.charCodeAt(end + 1) !== quote) {
        at = end + 1
        break
      }
      field += '"'
      from = end + 2
    }
    fields.push(field)
    const next = row.indexOf(delimiter, at)
    if (next < 0) break
    at = next + 1
  }
  return fields
}

type Layout = { readonly delimiter: string; readonly places: { readonly [column in keyof Columns]?: number } }

const conventional = { value: 'value', score: 'score', category: 'category', expires: 'expires', seen: 'seen' } as const
const columnNames = Object.keys(conventional) as (keyof Columns)[]

/** Where the columns are, if this row is the header. A column that was named must be there; the others may be. */
const layoutOf = (row: string, columns: Columns): Layout | string | undefined => {
  for (const delimiter of delimiters) {
    const header = splitRow(row, delimiter)?.map((field) => field.toLowerCase().replace(/^#\s*/, ''))
    const find = (column: keyof Columns): number | undefined => {
      const name = columns[column] ?? conventional[column]
      const at = typeof name === 'number' ? name - 1 : (header?.indexOf(name.toLowerCase()) ?? -1)
      return at < 0 ? undefined : at
    }
    if (!header || header.length > 256 || typeof columns.value === 'number' || find('value') === undefined) continue
    const missing = columnNames.find((column) => columns[column] !== undefined && find(column) === undefined)
    if (missing) return `the header names no column ${JSON.stringify(columns[missing])}`
    return { delimiter, places: Object.fromEntries(columnNames.map((column) => [column, find(column)])) }
  }
  return undefined
}

/** By number there is no header to wait for; the delimiter is the one that makes the most of the first row. */
const numberedLayout = (row: string, columns: Columns): Layout => {
  const fields = (delimiter: string): number => splitRow(row, delimiter)?.length ?? 0
  const delimiter = delimiters.reduce((best, other) => (fields(other) > fields(best) ? other : best))
  const place = (column: keyof Columns): number | undefined => {
    const name = columns[column]
    return typeof name === 'number' ? name - 1 : undefined
  }
  return { delimiter, places: Object.fromEntries(columnNames.map((column) => [column, place(column)])) }
}

const addRow = (fields: readonly string[], { places }: Layout, line: number, sink: Sink): boolean => {
  const field = (column: keyof Columns): string | undefined => {
    const place = places[column]
    return place === undefined ? undefined : fields[place]
  }
  const value = field('value')
  if (value === undefined || value === '') return sink.junk(line)
  const score = field('score')
  const details: Details = {
    score: score !== undefined && /^\d{1,3}(?:\.\d{1,6})?$/.test(score) ? Number(score) : undefined,
    categories: field('category')?.split(/[,;|]/),
    expires: parseTimestamp(field('expires')),
    seen: parseTimestamp(field('seen')),
  }
  return sink.add(value, line, details)
}

export const parseCsv: Parser = (bytes, sink, columns) => {
  let layout: Layout | undefined
  let problem: ParseProblem | undefined
  let open = ''
  let openLine = 0
  forEachLine(bytes, (line, number) => {
    if (open === '' && line.trim() === '') return true
    if (open === '' && line.startsWith('#')) {
      const found = layout ? undefined : layoutOf(line.replace(/^#+\s*/, ''), columns)
      if (typeof found === 'object') layout = found
      return true
    }
    const row = open === '' ? line : `${open}\n${line}`
    const start = open === '' ? number : openLine
    if (!layout) {
      const found = typeof columns.value === 'number' ? numberedLayout(row, columns) : layoutOf(row, columns)
      if (typeof found !== 'object') {
        const message = found ?? `no header names the column ${JSON.stringify(columns.value ?? conventional.value)}`
        problem = { place: start, message }
        return false
      }
      layout = found
      if (typeof columns.value !== 'number') return true
    }
    const fields = splitRow(row, layout.delimiter)
    if (fields) {
      open = ''
      return isHeaderAgain(fields, layout, columns) || addRow(fields, layout, start, sink)
    }
    open = row
    openLine = start
    if (row.length <= maxRowLength && number - start < maxRowLines) return true
    problem = { place: start, message: 'a quoted field never ends' }
    return false
  })
  if (!problem && open !== '') problem = { place: openLine, message: 'a quoted field never ends' }
  return problem
}

/** Some files carry the header in a comment and once more as a row. */
const isHeaderAgain = (fields: readonly string[], { places }: Layout, columns: Columns): boolean =>
  typeof columns.value !== 'number' &&
  places.value !== undefined &&
  fields[places.value]?.toLowerCase() === (columns.value ?? conventional.value).toLowerCase()
