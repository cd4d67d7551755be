// Lists in JSON: STIX, MISP, abuse.ch exports, and lists of strings or objects, as one document or one object per line.
import { isObject, type AnyObject } from '../base/json-object.js'
import { createBoundedCache } from '../base/bounded-cache.js'
import type { Columns, ParseProblem, Place, Sink } from './feed.js'
import { listOf, readJson, type JsonParser } from './json-text.js'
import { forEachLine } from './lines.js'
import { addMisp, looksLikeMisp } from './misp.js'
import { addRow, chosenLayout, layoutOf, type Layout } from './row.js'
import { addStix, looksLikeStix } from './stix.js'

/** A plain list may begin with `[2001:db8::1]:443`; JSON never does. */
export const looksLikeJson = (start: string): boolean => /^(?:\{|\[\s*["{\]])/.test(start)

export const parseJsonList = (bytes: Buffer, sink: Sink, columns?: Columns): ParseProblem | undefined => {
  const json = readJson(bytes)
  if (!json.ok) return parseJsonLines(bytes, sink, columns) ? undefined : json.problem
  if (sink.isWhole && isObject(json.value) && json.value.more === true)
    return {
      message:
        'is one page of a TAXII answer ("more": true): give the address of the collection as taxii, and all pages are fetched',
    }
  const parser = parserOf(json.value, columns)
  if (!parser)
    return {
      place: 1,
      message: 'is JSON in which no address, name or URL is found: no STIX, no MISP, no list of entries',
    }
  if ('message' in parser) return parser
  parser.add(json.value, sink)
  return undefined
}

const parserOf = (
  value: unknown,
  columns: Columns | undefined,
): { readonly add: JsonParser } | ParseProblem | undefined => {
  if (looksLikeStix(value)) return { add: addStix }
  if (looksLikeMisp(value)) return { add: addMisp }
  if (isObject(value) && Array.isArray(value.list) && 'name' in value && 'type' in value)
    return {
      message:
        'is a MISP warninglist, which names what is harmless: give it to intel.safeguard or gate.allow, not to feeds',
    }
  const rows = rowsIn(value)
  const isList = rows.some((row) => typeof row === 'string' || (isObject(row) && rowLayout(row, columns) !== undefined))
  return isList || isEmpty(value) ? { add: addRows(columns) } : undefined
}

/** The rows of a list, or of an object whose members are lists, as in abuse.ch exports keyed by id. */
const rowsIn = (value: unknown): readonly unknown[] => {
  if (Array.isArray(value)) return value
  if (!isObject(value) || isEmpty(value)) return []
  const lists = Object.values(value).filter((member) => Array.isArray(member))
  return lists.length > 0 ? lists.flatMap(listOf) : [value]
}

/** `[]`, or `{}`, the TAXII answer without objects: an empty list. */
const isEmpty = (value: unknown): boolean =>
  (Array.isArray(value) && value.length === 0) || (isObject(value) && Object.keys(value).length === 0)

const addRows =
  (columns: Columns | undefined): JsonParser =>
  (value, sink) => {
    for (const row of rowsIn(value)) {
      const goesOn =
        typeof row === 'string'
          ? sink.add(row, row)
          : isObject(row)
            ? addObject(row, placeOf(row), sink, columns)
            : sink.skip(1, 'unusable', JSON.stringify(row))
      if (!goesOn) return
    }
  }

/** The objects of one list share their members, so their layout is cached. */
const layouts = createBoundedCache<string, { readonly layout: Layout | undefined }>(500)

const rowLayout = (row: AnyObject, columns: Columns | undefined): Layout | undefined => {
  const names = Object.keys(row).slice(0, 64)
  const key = (columns ? JSON.stringify(columns) : '') + names.join('\n').slice(0, 4096)
  const known = layouts.get(key)
  if (known) return known.layout
  const layout = columns ? chosenLayout(names, columns) : layoutOf(names)
  layouts.set(key, { layout })
  return layout
}

const addObject = (row: AnyObject, place: Place, sink: Sink, columns: Columns | undefined): boolean => {
  const layout = rowLayout(row, columns)
  // The last line of a Spamhaus list is metadata, not an entry.
  if (!layout) return row.type === 'metadata' || sink.skip(place)
  return addRow(Object.values(row), layout, place, sink)
}

/** A text of the row that locates it in the file. */
const placeOf = (row: AnyObject): Place =>
  Object.values(row).find((cell): cell is string => typeof cell === 'string' && cell !== '') ?? 1

/** Parses a file with one object per line; returns false if the first line is not an object. */
const parseJsonLines = (bytes: Buffer, sink: Sink, columns: Columns | undefined): boolean => {
  let isFirst = true
  let isLines = true
  forEachLine(bytes, (line, number) => {
    if (line.trim() === '') return true
    const row = objectOf(line)
    if (isFirst) isLines = row !== undefined
    isFirst = false
    return isLines && (row ? addObject(row, number, sink, columns) : sink.skip(number))
  })
  return isLines
}

const objectOf = (line: string): AnyObject | undefined => {
  try {
    const value: unknown = JSON.parse(line)
    return isObject(value) ? value : undefined
  } catch {
    return undefined // the caller counts the line
  }
}
