// CSV: quoted fields, comments, headers that stand in a comment or nowhere at all.
import { publicSuffix } from '../domain/public-suffix.js'
import { forEachRow, splitRow } from './csv-rows.js'
import { readEntry, spanOfRow } from './entry.js'
import type { ParseProblem, Parser } from './feed.js'
import { addRow, layoutOf, type Layout } from './row.js'
import { readLine } from './text-list.js'

const delimiters = [',', ';', '\t', '|']
const maxRowLength = 65_536

/** How a table is written; `header` is the row that names the columns, wherever it stands. */
type Table = { readonly delimiter: string; readonly layout: Layout; readonly header: readonly string[] }

const isComment = (line: string): boolean => /^\s*(?:#|\/\/)/.test(line)

/** The table that the beginning of a file shows, or why none of its columns can be taken; nothing when it is a list of lines. */
export const detectTable = (start: string): Table | ParseProblem | undefined => {
  const lines = start.split(/\r?\n/).filter((line) => line.trim() !== '')
  const rows = lines.filter((line) => !isComment(line))
  const comments = lines.slice(0, lines.indexOf(rows[0] ?? '')).map((line) => line.replace(/^\s*[#/]+\s*/, ''))
  const named = withHeader(rows[0], rows[1], true)
  if (named) return named
  for (const comment of comments.toReversed()) {
    const found = withHeader(comment, rows[0], false)
    if (found) return found
  }
  const readable = rows.filter((row) => readLine(row)?.values.every((value) => isIndicator(value)) === true)
  return readable.length * 2 >= rows.length ? undefined : byContent(rows.slice(0, 100))
}

/** A header has as many columns as the row after it; in a comment one word is no header. */
const withHeader = (header: string | undefined, row: string | undefined, mayBeOne: boolean): Table | undefined => {
  for (const delimiter of delimiters) {
    const names = splitRow(header ?? '', delimiter)
    const layout = names && (names.length > 1 || mayBeOne) ? layoutOf(names) : undefined
    if (!names || !layout) continue
    const fields = row === undefined ? names : splitRow(row, delimiter)
    // DShield's table of first address, last address and prefix is read as lines, whatever it calls the prefix.
    if (fields && spanOfRow(fields) !== undefined) return undefined
    if (fields === undefined || fields.length === names.length) return { delimiter, layout, header: names }
  }
  return undefined
}

/** Nobody says which column it is: the one that holds addresses and names in nearly every row, if there is one such. */
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
        message: `columns ${columns.map((at) => at + 1).join(' and ')} both hold addresses or names: put a first line above that names the one meant "value"`,
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
    /** A quoted field that never ends costs every line it seems to hold. */
    const skip = (from: number, to: number): boolean => {
      for (let line = from; line <= to; line++) if (!sink.skip(line)) return false
      return true
    }
    const options = { separator: delimiter, maxLength: maxRowLength, isIgnored: isComment }
    forEachRow(bytes, options, (fields, line) => isHeader(fields) || addRow(fields, layout, line, sink), skip)
    return undefined
  }
