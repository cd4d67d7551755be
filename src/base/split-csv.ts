// Splits one row of separated values into its cells: quotes around a cell are removed, blanks around an unquoted one too.

type CsvCells = {
  readonly cells: readonly string[]
  /** The last cell was quoted and its quotes do not end: the row may go on in the next line. */
  readonly isOpen: boolean
}

const blank = 0x20
const quote = 0x22

/** At most `max` cells; `""` inside quotes is a quote. */
export const splitCsv = (text: string, separator: string, max: number): CsvCells => {
  const cells: string[] = []
  let isOpen = false
  for (let at = 0; at <= text.length && cells.length < max;) {
    let start = at
    if (separator !== ' ') while (text.charCodeAt(start) === blank) start++
    let end = -1
    if (text.charCodeAt(start) === quote) {
      end = text.indexOf('"', start + 1)
      while (end > 0 && text.charCodeAt(end + 1) === quote) end = text.indexOf('"', end + 2)
      isOpen = end < 0
      if (isOpen) end = text.length
      cells.push(text.slice(start + 1, end).replaceAll('""', '"'))
    }
    const next = text.indexOf(separator, end < 0 ? at : end)
    if (end < 0) cells.push(trimmed(text, at, next < 0 ? text.length : next))
    at = next < 0 ? text.length + 1 : next + separator.length
  }
  return { cells, isOpen }
}

/** Most cells have no blanks around them, and then a slice is enough. */
const trimmed = (text: string, from: number, to: number): string =>
  text.charCodeAt(from) <= blank || text.charCodeAt(to - 1) <= blank
    ? text.slice(from, to).trim()
    : text.slice(from, to)
