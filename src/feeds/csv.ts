// CSV feeds with quoted fields and comments; the header may be a row, a comment or missing.
import { publicSuffix } from '../domain/public-suffix.js'
import { forEachRow, splitRow } from './csv-rows.js'
import { readEntry, spanOfRow } from './entry.js'
import type { Columns, ParseProblem, Parser } from './feed.js'
import { addRow, chosenLayout, layoutOf, type Layout } from './row.js'
import { readLine } from './text-list.js'

const delimiters = [',', ';', '\t', '|']
const maxRowLength = 65_536

/** The format of a table; `header` is the row that names the columns, wherever it is. */
type Table = { readonly delimiter: string; readonly layout: Layout; readonly header: readonly string[] }

const isComment = (line: string): boolean => /^\s*(?:#|\/\/)/.test(line)

/** Detects a table from the beginning of a file. Returns a problem if no column can be chosen, undefined for a plain list of lines. */
export const detectTable = (start: string, columns?: Columns): Table | ParseProblem | undefined => {
  const lines = start.split(/\r?\n/).filter((line) => line.trim() !== '')
  const rows = lines.filter((line) => !isComment(line))
  const comments = lines.slice(0, lines.indexOf(rows[0] ?? '')).map((line) => line.replace(/^\s*[#/]+\s*/, ''))
  if (columns) return chosenTable(rows.slice(0, 100), comments, columns)
  const named = withHeader(rows[0], rows[1], true)
  if (named) return named
  for (const comment of comments.toReversed()) {
    const found = withHeader(comment, rows[0], false)
    if (found) return found
  }
  const readable = rows.filter((row) => readLine(row)?.values.every((value) => isIndicator(value)) === true)
  return readable.length * 2 >= rows.length ? undefined : byContent(rows.slice(0, 100))
}

/** A header has as many columns as the next row. In a comment, a single word is not a header. */
const withHeader = (header: string | undefined, row: string | undefined, mayBeOne: boolean): Table | undefined => {
  for (const delimiter of delimiters) {
    const names = splitRow(header ?? '', delimiter)
    const layout = names && (names.length > 1 || mayBeOne) ? layoutOf(names) : undefined
    if (!names || !layout) continue
    const fields = row === undefined ? names : splitRow(row, delimiter)
    // DShield's table of first address, last address and prefix is read as lines, whatever its header says.
    if (fields && spanOfRow(fields) !== undefined) return undefined
    if (fields === undefined || fields.length === names.length) return { delimiter, layout, header: names }
  }
  return undefined
}

/** Uses the columns from the feed's settings; the header may be a row, a comment or missing. */
const chosenTable = (
  rows: readonly string[],
  comments: readonly string[],
  columns: Columns,
): Table | ParseProblem | undefined => {
  const places = Object.values(columns)
  const last = Math.max(1, ...places.map((column) => (typeof column === 'number' ? column : 1)))
  const areNumbers = places.every((column) => typeof column === 'number')
  for (const delimiter of delimiters) {
    const [first = [], ...others] = rows.map((row) => splitRow(row, delimiter) ?? [])
    if (first.length < last || first.length < 2) continue
    const isRow = (fields: readonly string[]): boolean => isIndicator(fields[valueAt(fields, columns)] ?? '')
    const hasHeader = areNumbers && others.length > 0 && !isRow(first) && others.some(isRow)
    const headers = areNumbers
      ? [hasHeader ? first : []]
      : [first, ...comments.toReversed().map((comment) => splitRow(comment, delimiter) ?? [])]
    for (const header of headers) {
      const layout = chosenLayout(header, columns)
      if (layout) return { delimiter, layout, header }
    }
  }
  const wanted = places.map((column) => (typeof column === 'number' ? `number ${column}` : JSON.stringify(column)))
  return { place: 1, message: `has no column ${wanted.join(' or no column ')}, which the columns of the feed name` }
}

const valueAt = (fields: readonly string[], { value }: Columns): number =>
  typeof value === 'number' ? value - 1 : fields.indexOf(value)

/**
 * Without known column names, takes the column that holds indicators in at least 90 % of the rows. Several such columns are a problem,
 * unless there is no header and the first column is one of them.
 */
const byContent = (rows: readonly string[]): Table | ParseProblem | undefined => {
  for (const delimiter of delimiters) {
    const split = rows.map((row) => splitRow(row, delimiter) ?? [])
    const [first = [], ...others] = split
    if (first.length < 2 || split.some((fields) => fields.length !== first.length)) continue
    const isListing = (column: number): boolean =>
      others.length > 0
        ? others.filter((fields) => isIndicator(fields[column] ?? '')).length * 10 >= others.length * 9
        : isIndicator(first[column] ?? '')
    const columns = [...first.keys()].filter(isListing)
    const [column] = columns
    if (column === undefined) continue
    const hasHeader = !columns.some((at) => isIndicator(first[at] ?? ''))
    if (columns.length > 1 && (hasHeader || column !== 0))
      return {
        place: 1,
        message: `columns ${columns.map((at) => at + 1).join(' and ')} both hold addresses or names: put a first line above that names the one meant "value", or say it with columns: { value: ${(columns[0] ?? 0) + 1} } of the feed`,
      }
    const header = hasHeader ? first : []
    const layout = layoutOf(header, column)
    if (layout) return { delimiter, layout, header }
  }
  return undefined
}

const isIndicator = (text: string): boolean => {
  const entry = readEntry(text)
  if (entry.kind === 'name') return publicSuffix(entry.name).isListed
  return entry.kind === 'range' || entry.kind === 'span' || entry.kind === 'site'
}

export const parseTable =
  ({ delimiter, layout, header }: Table): Parser =>
  (bytes, sink) => {
    const isHeader = (fields: readonly string[]): boolean =>
      header.length > 0 && fields.length === header.length && fields.every((field, at) => field === header[at])
    /** A row with an unclosed quote counts as one skipped entry per line. */
    const skip = (from: number, to: number): boolean => {
      for (let line = from; line <= to; line++) if (!sink.skip(line)) return false
      return true
    }
    const options = { separator: delimiter, maxLength: maxRowLength, isIgnored: isComment }
    forEachRow(bytes, options, (fields, line) => isHeader(fields) || addRow(fields, layout, line, sink), skip)
    return undefined
  }
