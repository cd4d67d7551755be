// Splits a CSV file into rows: quoted cells may span lines, and a row with an unclosed quote is given up within fixed limits.
import { splitCsv } from '../base/split-csv.js'
import { forEachLine } from './lines.js'

const maxCells = 256
/** A row is split again for each further line, so the number of lines is limited. */
const maxRowLines = 64

type RowOptions = {
  readonly separator: string
  readonly maxLength: number
  /** Lines between rows to ignore, such as comments; blank lines are always ignored. */
  readonly isIgnored?: (line: string) => boolean
}

/** `take` and `skip` return false to stop. `skip` gets the first and last line of a row that cannot be read. */
export const forEachRow = (
  bytes: Buffer,
  { separator, maxLength, isIgnored = () => false }: RowOptions,
  take: (cells: readonly string[], line: number) => boolean,
  skip: (from: number, to: number) => boolean,
): void => {
  let open = ''
  let openLine = 0
  let lastLine = 0
  forEachLine(bytes, (line, number) => {
    if (open === '' && (line.trim() === '' || isIgnored(line))) return true
    const row = open === '' ? line : `${open}\n${line}`
    if (open === '') openLine = number
    lastLine = number
    const { cells, isOpen } = splitCsv(row, separator, maxCells)
    open = isOpen && row.length <= maxLength && number - openLine < maxRowLines ? row : ''
    if (!isOpen) return take(cells, openLine)
    return open !== '' || skip(openLine, number)
  })
  if (open !== '') skip(openLine, lastLine)
}

/** The cells of one complete row; undefined if a quote is unclosed. */
export const splitRow = (row: string, separator: string): readonly string[] | undefined => {
  const { cells, isOpen } = splitCsv(row, separator, maxCells)
  return isOpen ? undefined : cells
}
