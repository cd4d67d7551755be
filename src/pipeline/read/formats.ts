// Formats: data that says how the lines of a product are cut and what their pieces are called; see docs/formats.md.
import type { Action } from '../../domain/sighting.js'
import { fitOf, readPiece } from './ecs.js'
import { compileLiterals } from './literals.js'
import { readLater, type Reader } from './reader.js'
import { cellsOf } from './rows.js'
import { compileTemplate, type Match, type Piece } from './template.js'

export const cuts = ['text', 'csv', 'pairs', 'json'] as const
export type Cut = (typeof cuts)[number]

/** One way the product writes a line. What the format says holds for each of its variants. */
export type Variant = {
  readonly id?: string | undefined
  /** text: the line, with `{*}` for whatever stands there, `{_}` for one word, `{name}` for a piece, `{name?}` for one that may be a dash. */
  readonly line?: string | undefined
  /** Columns (csv, from 1) or keys (pairs, json) that must hold this, or one of these. */
  readonly when?: Readonly<Record<string, string | readonly string[]>> | undefined
  /** Columns or keys → names. */
  readonly fields?: Readonly<Record<string, string>> | undefined
  /** What such a line says without saying it. */
  readonly set?: Readonly<Record<string, string>> | undefined
}

export type FormatSpec = Variant & {
  readonly id: string
  readonly cut: Cut
  /** A line without one of these is not looked at. */
  readonly contains?: readonly string[] | undefined
  /** csv: what separates the columns. */
  readonly separator?: string | undefined
  /** Words of its own for an action. */
  readonly words?: Readonly<Partial<Record<'allowed' | 'blocked', readonly string[]>>> | undefined
  readonly variants?: readonly Variant[] | undefined
}

export type Recognised = {
  readonly id: string
  readonly rule: string
  readonly words: Words
  readonly pieces: readonly Piece[]
  /** What stands behind the last piece of a text: it is searched like any other. */
  readonly rest: string
}
type Words = ReadonlyMap<string, Action>

type Compiled = {
  readonly id: string
  readonly contains: readonly string[]
  readonly separator: string
  readonly words: Words
  readonly variants: readonly CompiledVariant[]
}
type CompiledVariant = {
  readonly rule: string
  readonly match: (cells: Cells) => Match | undefined
}
/** A line as it was cut: the text, or what stands in a column or under a key. */
type Cells = {
  readonly text: string
  /** Where the message begins, behind a header. */
  readonly start: number
  readonly at: (key: string) => string | undefined
}

/** `at` is for lines that were cut before: what stands under a key. */
export type Line = {
  readonly text: string
  /** Where the message begins, behind a header. */
  readonly start?: number
  readonly at?: (key: string) => string | undefined
}

export type Formats = {
  readonly recognise: (cut: Cut, line: Line) => Recognised | undefined
  /** Every format that recognises the line: more than one is an error of the formats, which tests and loading hold. */
  readonly recogniseAll: (cut: Cut, line: Line) => readonly Recognised[]
  readonly has: (cut: Cut) => boolean
}

const maxColumns = 256

export const compileFormats = (specs: readonly FormatSpec[]): Formats => {
  const byCut = new Map(
    cuts.map((cut) => {
      const list = specs.filter((spec) => spec.cut === cut).map(compile)
      return [cut, { list, find: compileLiterals(list.map(({ contains }) => contains)) }]
    }),
  )
  const search = (cut: Cut, line: Line, most: number): readonly Recognised[] => {
    const formats = byCut.get(cut)
    // Nearly every line is none of these, and one look tells.
    const may = formats?.find(line.text)
    if (formats === undefined || may === undefined) return none
    const found: Recognised[] = []
    let cells: Cells | undefined
    for (const [at, { id, separator, words, variants }] of formats.list.entries()) {
      if (may[at] === 0) continue
      if (cells === undefined || cut === 'csv') cells = cellsIn(line, cut, separator)
      // Of one format the first variant that fits counts.
      for (const { rule, match } of variants) {
        const matched = match(cells)
        if (matched === undefined) continue
        found.push({ id, rule, words, pieces: matched.pieces, rest: matched.rest })
        break
      }
      if (found.length === most) break
    }
    return found
  }
  return {
    has: (cut) => byCut.get(cut)?.list.length !== 0,
    recognise: (cut, line) => search(cut, line, 1)[0],
    recogniseAll: (cut, line) => search(cut, line, Number.POSITIVE_INFINITY),
  }
}
const none: readonly Recognised[] = []

const oneBlank = (text: string): string => (text.includes('  ') ? text.replace(/ {2,}/g, ' ') : text)

const cellsIn = ({ text, start = 0, at }: Line, cut: Cut, separator: string): Cells => {
  if (at !== undefined) return { text, start, at }
  if (cut === 'text') return { text: oneBlank(text), start: oneBlank(text.slice(0, start)).length, at: () => undefined }
  let cells: string[] | undefined
  const row = separator === ' ' ? oneBlank(text.slice(start)) : text.slice(start)
  return { text, start, at: (key) => (cells ??= cellsOf(row, maxColumns, separator))[Number(key) - 1]?.trim() }
}

const compile = (spec: FormatSpec): Compiled => {
  const [first] = Object.values({ ...spec.when, ...spec.variants?.[0]?.when })
  const words = (['allowed', 'blocked'] as const).flatMap((action) =>
    (spec.words?.[action] ?? []).map((word): [string, Action] => [word.toLowerCase(), action]),
  )
  return {
    id: spec.id,
    // A line without the values that the first condition asks for is not cut either.
    contains: spec.contains ?? (first === undefined ? [] : [first].flat()),
    separator: spec.separator ?? ',',
    words: new Map(words),
    variants: (spec.variants ?? [{}]).map((variant) => compileVariant(spec, variant)),
  }
}

const compileVariant = (spec: FormatSpec, variant: Variant): CompiledVariant => {
  const line = variant.line ?? spec.line
  const template = compileTemplate(line ?? '')
  const when = Object.entries({ ...spec.when, ...variant.when }).map(([key, is]) => [key, [is].flat()] as const)
  const fields = Object.entries({ ...spec.fields, ...variant.fields }).map(
    ([key, name]) => [key, name, fitOf(`${name}?`)] as const,
  )
  const set = Object.entries({ ...spec.set, ...variant.set })
  return {
    rule: variant.id === undefined ? `format:${spec.id}` : `format:${spec.id}.${variant.id}`,
    match: (cells) => {
      const cut = template(cells.text, cells.start)
      if (cut === undefined || !when.every(([key, values]) => values.includes(cells.at(key) ?? ''))) return undefined
      const pieces = [...cut.pieces]
      for (const [key, name, mayBe] of fields) {
        const text = cells.at(key)
        if (text !== undefined && mayBe(text)) pieces.push([name, text])
      }
      pieces.push(...set)
      return { pieces, rest: line === undefined ? '' : cut.rest }
    },
  }
}

/** What a format says of a line: its pieces under their names, and its own words for the action. */
export const readRecognised = (reader: Reader, { rule, pieces, words, rest }: Recognised, field: string): void => {
  for (const [name, text] of pieces) {
    const action = name === 'event.action' ? words.get(text.toLowerCase()) : undefined
    if (action === undefined) readPiece(reader, name, text, field, rule)
    else reader.action.set(action, rule, text)
  }
  reader.action.seeText(rest)
  readLater(reader, rest, field)
}
