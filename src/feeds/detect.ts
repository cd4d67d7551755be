// Picks the parser for a file by its content, never by its name.
import { detectTable, parseTable } from './csv.js'
import type { Columns, ParseProblem, Parser } from './feed.js'
import { looksLikeJson, parseJsonList } from './json-list.js'
import { detectPatternTable, parsePatternTable } from './pattern-table.js'
import { looksLikeZone, parseZone } from './rpz.js'
import { parseTextList } from './text-list.js'

const sampleBytes = 65_536

/** `columns`: the columns named in the feed's settings. */
export const parserOf = (bytes: Buffer, columns?: Columns): { readonly parser: Parser } | ParseProblem => {
  const sample = bytes.toString('utf8', 0, sampleBytes).replace(/^\ufeff/, '')
  const start = sample.trimStart()
  if (start === '' && bytes.length <= sampleBytes) return { message: 'is empty' }
  if (/^<(?:!doctype|html|head|body|!--|\?xml)/i.test(start))
    return {
      place: 1,
      message:
        'is a web page (HTML or XML), not a list: the address it came from answered with an error or a login page',
    }
  if (looksLikeJson(start)) return { parser: (all, sink) => parseJsonList(all, sink, columns) }
  // The last line of the sample may be cut off.
  const whole = bytes.length > sampleBytes ? sample.slice(0, sample.lastIndexOf('\n') + 1) : sample
  if (!columns && looksLikeZone(whole)) return { parser: parseZone }
  const patterns = columns ? undefined : detectPatternTable(start)
  if (patterns) return { parser: parsePatternTable(patterns) }
  const table = detectTable(whole, columns)
  if (!table) return { parser: parseTextList }
  return 'message' in table ? table : { parser: parseTable(table) }
}
