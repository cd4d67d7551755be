// Formats: data that describes how a product's lines are split and how their pieces are named; see docs/formats.md.
import type { Activity } from '../../domain/activity.js'
import type { Action } from '../../domain/sighting.js'
import { readPiece } from './ecs.js'
import { createLiteralFinder } from './literals.js'
import { readLater, type Reader } from './reader.js'
import { splitCsv } from '../../base/split-csv.js'
import { compileTemplate, longestLiteral, type Match } from './template.js'

export const cuts = ['text', 'csv', 'pairs', 'json'] as const
type Cut = (typeof cuts)[number]

/** One way in which the product writes a line. The settings of the format apply to each of its variants. */
export type Variant = {
  readonly id?: string | undefined
  /** text: the line, with `{*}` for any text, `{_}` for one word, `{name}` for a piece, `{name?}` for a piece that may be a dash. */
  readonly line?: string | undefined
  /** Columns (csv, from 1) or keys (pairs, json) that must hold this value, or one of these. */
  readonly when?: Readonly<Record<string, string | readonly string[]>> | undefined
  /** Columns or keys → names. */
  readonly fields?: Readonly<Record<string, string>> | undefined
  /** The activity that such a line reports. */
  readonly activity?: Activity | undefined
  /** Values that such a line implies without writing them. */
  readonly set?: Readonly<Record<string, string>> | undefined
}

export type FormatSpec = Variant & {
  readonly id: string
  readonly cut: Cut
  /** Lines without any of these texts are skipped. */
  readonly contains?: readonly string[] | undefined
  /** csv: the separator of the columns. */
  readonly separator?: string | undefined
  /** The product's own words for an action. */
  readonly words?: Readonly<Partial<Record<'allowed' | 'blocked', readonly string[]>>> | undefined
  readonly variants?: readonly Variant[] | undefined
}

/** A line to recognise. */
export type Line = {
  readonly text: string
  /** Where the message begins, after any header. */
  readonly start: number
  /** The value of a key, for a line that is already split. */
  readonly at?: (key: string) => string | undefined
}

type Recognised = Match & {
  readonly id: string
  readonly rule: string
  readonly words: ReadonlyMap<string, Action>
  readonly activity: Activity | undefined
}
/** The form of a line: unsplit, as pairs, or as an object. */
type Kind = 'line' | 'pairs' | 'json'
export const kindOf = (cut: Cut): Kind => (cut === 'pairs' || cut === 'json' ? cut : 'line')

/** Finds the format of a line among the formats for its kind. */
export type Recognise = (kind: Kind, line: Line) => Recognised | undefined

const maxColumns = 256

/** Tries only formats whose required texts are in the line. */
export const compileFormats = (specs: readonly FormatSpec[]): Recognise => {
  const formats = specs.map((spec) => ({ kind: kindOf(spec.cut), match: compile(spec), texts: requiredTexts(spec) }))
  const seek = createLiteralFinder(formats.map(({ texts }) => texts ?? []))
  const always = Uint8Array.from(formats, ({ texts }) => (texts === undefined ? 1 : 0))
  const isThere = Uint8Array.from(always)
  const found = (format: number): void => {
    isThere[format] = 1
  }
  /** The text that was searched last: an unrecognised line comes back once it is cut into pairs. */
  let searched = ''
  // The first format is that of web servers. Trying it first spares its lines the search.
  const [first] = formats
  const isFirst = (kind: Kind, text: string): boolean =>
    first?.kind === kind && first.texts?.some((one) => text.includes(one)) === true
  return (kind, line) => {
    const recognised = isFirst(kind, line.text) ? first?.match(line) : undefined
    if (recognised) return recognised
    if (line.text !== searched) {
      searched = line.text
      isThere.set(always)
      seek(searched, found)
    }
    for (let at = isThere.indexOf(1, first?.texts ? 1 : 0); at >= 0; at = isThere.indexOf(1, at + 1)) {
      const format = formats[at]
      const matched = format?.kind === kind ? format.match(line) : undefined
      if (matched) return matched
    }
    return undefined
  }
}

/** Every line of the format contains one of these texts: `contains`, or those that its lines and columns require. Undefined if unknown. */
const requiredTexts = (spec: FormatSpec): readonly string[] | undefined => {
  if (spec.contains !== undefined) return spec.contains
  const texts = (spec.variants ?? [{}]).map((variant) =>
    spec.cut === 'text'
      ? [longestLiteral(variant.line ?? spec.line ?? '')]
      : Object.values({ ...spec.when, ...variant.when })[0],
  )
  // JSON may escape a text, and a quoted column may double its quotation marks.
  const flat = texts.flatMap((some) => some ?? '')
  return spec.cut === 'json' || flat.some((text) => text === '' || text.includes('"')) ? undefined : flat
}

const compile = (spec: FormatSpec): ((line: Line) => Recognised | undefined) => {
  const { id, variants = [{}] } = spec
  const words = new Map(
    (['allowed', 'blocked'] as const).flatMap((action) =>
      (spec.words?.[action] ?? []).map((word): [string, Action] => [word.toLowerCase(), action]),
    ),
  )
  const compiled = variants.map((variant) => ({
    rule: variant.id === undefined ? `format:${id}` : `format:${id}.${variant.id}`,
    template: compileTemplate(variant.line ?? spec.line ?? ''),
    when: Object.entries({ ...spec.when, ...variant.when }).map(([key, is]) => [key, [is].flat()] as const),
    fields: Object.entries({ ...spec.fields, ...variant.fields }),
    set: Object.entries({ ...spec.set, ...variant.set }),
    activity: variant.activity ?? spec.activity,
  }))
  return (line) => {
    const { text, start, at } = cutBy(spec, line)
    // The first variant that fits wins.
    for (const { rule, template, when, fields, set, activity } of compiled) {
      if (!when.every(([key, values]) => values.includes(at?.(key) ?? ''))) continue
      const found = spec.cut === 'text' ? template(text, start) : { pieces: [], rest: '' }
      if (found === undefined) continue
      const named = fields.map(([key, name]) => [name, at?.(key) ?? ''] as const)
      return { id, rule, words, activity, pieces: [...found.pieces, ...named, ...set], rest: found.rest }
    }
    return undefined
  }
}

const cutBy = ({ cut, separator = ',' }: FormatSpec, line: Line): Line => {
  if (cut !== 'csv') return line
  const { cells } = splitCsv(line.text.slice(line.start), separator, maxColumns)
  return { ...line, at: (key) => cells[Number(key) - 1]?.trim() }
}

/** Reads a recognised line: its pieces under their names, and the product's own words for the action. */
export const readRecognised = (
  reader: Reader,
  { rule, pieces, words, activity, rest }: Recognised,
  field: string,
): void => {
  if (activity !== undefined) reader.activity.set(activity)
  for (const [name, text] of pieces) {
    const action = name === 'event.action' ? words.get(text.toLowerCase()) : undefined
    if (action === undefined) readPiece(reader, name, text, field, rule)
    else reader.action.set(action, rule, text)
  }
  readLater(reader, rest, field)
}
