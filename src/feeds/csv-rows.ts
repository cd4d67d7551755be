// The rows of a CSV file: a quoted cell may hold line ends, and a row that never closes its quotes is given up within bounds.
import { splitCsv } from '../base/split-csv.js'
import { forEachLine } from './lines.js'

const maxCells = 256
/** A row is split again with each further line, so there may not be many. */
const maxRowLines = 64

type RowOptions = {
  readonly separator: string
  readonly maxLength: number
  /** Lines between rows that are none, such as comments; blank ones are ignored anyway. */
  readonly isIgnored?: (line: string) => boolean
}

/** `take` and `skip` return false when enough was read. `skip` is called for a row that cannot be read, with its first and last line. */
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

/** The cells of one whole row; nothing if its quotes do not end. */
export const splitRow = (row: string, separator: string): readonly string[] | undefined => {
  const { cells, isOpen } = splitCsv(row, separator, maxCells)
  return isOpen ? undefined : cells
}
