// Reads tables of STIX patterns: the CSV export of indicators from OpenCTI.
import { forEachRow, splitRow } from './csv-rows.js'
import type { Parser } from './feed.js'
import { detailsOf, isRevoked, layoutOf, type Layout } from './row.js'
import { readPattern } from './stix-pattern.js'

const delimiters = [';', ',', '\t']
/** Descriptions may be long. */
const maxRowLength = 1 << 20

type PatternTable = {
  readonly delimiter: string
  readonly pattern: number
  readonly language: number
  readonly layout: Layout
}

/** The export starts with a header row that contains both columns, sorted by name. */
export const detectPatternTable = (start: string): PatternTable | undefined => {
  const header = start.slice(0, start.search(/\r?\n|$/))
  for (const delimiter of delimiters) {
    const names = splitRow(header, delimiter) ?? []
    const [pattern, language] = [names.indexOf('pattern'), names.indexOf('pattern_type')]
    const layout = pattern < 0 || language < 0 ? undefined : layoutOf(names, pattern)
    if (layout) return { delimiter, pattern, language, layout }
  }
  return undefined
}

export const parsePatternTable =
  ({ delimiter, pattern, language, layout }: PatternTable): Parser =>
  (bytes, sink) => {
    let isHeader = true
    const addPattern = (cells: readonly string[], line: number): boolean => {
      if (isHeader) {
        isHeader = false
        return true
      }
      const text = cells[pattern] ?? ''
      if (text === '') return sink.skip(line)
      if (isRevoked(cells, layout)) return sink.skip(line, 'revoked')
      if (cells[language]?.toLowerCase() !== 'stix') return sink.skip(line, 'other_language', text)
      const details = detailsOf(cells, layout, pattern)
      const { values, skipped } = readPattern(text)
      return (
        values.every((value) => sink.add(value, line, details)) &&
        skipped.every((reason) => sink.skip(line, reason, text))
      )
    }
    forEachRow(bytes, { separator: delimiter, maxLength: maxRowLength }, addPattern, (from) => sink.skip(from))
    return undefined
  }
