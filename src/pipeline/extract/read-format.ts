// Reads a format from a document's plain values, and reports what does not belong in one.
import { activities } from '../../domain/activity.js'
import { lineKinds } from '../../domain/sighting.js'
import { ecsNames } from './ecs.js'
import { cuts, type FormatSpec, type Variant } from './formats.js'
import { isNamed, partsOf } from './template.js'

type Path = readonly (string | number)[]
export type Complain = (path: Path, message: string) => void
export type Example = {
  readonly path: Path
  readonly line: string
  readonly expected: Readonly<Record<string, string>>
}
export type ReadFormat = { readonly spec: FormatSpec; readonly examples: readonly Example[] }

const variantKeys = ['id', 'line', 'when', 'fields', 'set', 'activity', 'example']
const formatKeys = [...variantKeys, 'cut', 'contains', 'separator', 'words', 'variants']

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isText = (value: unknown): value is string | number => typeof value === 'string' || typeof value === 'number'

/** Undefined if the value is no format at all; other problems are only reported. */
export const readFormat = (value: unknown, wrong: Complain): ReadFormat | undefined => {
  if (!isMap(value)) {
    wrong([], 'a format must be `name: value` lines')
    return undefined
  }
  const { id, cut, contains, separator, words, variants } = value
  unknownKeys(value, formatKeys, [], wrong)
  if (typeof id !== 'string' || !/^[a-z0-9][a-z0-9-]{1,60}$/.test(id))
    wrong(['id'], 'id must be a word of small letters, digits and hyphens')
  else if (id === 'none' || lineKinds.some((kind) => kind === id))
    wrong(['id'], `${id} is no id: it has a meaning already`)
  if (!cuts.some((one) => one === cut)) wrong(['cut'], `cut must be one of ${cuts.join(', ')}`)
  if (contains !== undefined && !isTexts(contains)) wrong(['contains'], 'contains must be a list of texts')
  if (separator !== undefined && (typeof separator !== 'string' || separator.length !== 1))
    wrong(['separator'], 'separator must be one character')
  if (
    words !== undefined &&
    !(
      isMap(words) &&
      Object.entries(words).every(([name, list]) => (name === 'allowed' || name === 'blocked') && isTexts(list))
    )
  )
    wrong(['words'], 'words must be lists under allowed or blocked')
  if (variants !== undefined && !(Array.isArray(variants) && variants.every(isMap))) {
    wrong(['variants'], 'variants must be a list')
    return undefined
  }
  const list = variants ?? []
  const examples: Example[] = []
  const own = variantOf(value, String(cut), [], wrong, examples)
  const others = list.map((variant, at) => {
    unknownKeys(variant, variantKeys, ['variants', at], wrong)
    return variantOf(variant, String(cut), ['variants', at], wrong, examples)
  })
  const each = others.length === 0 ? [own] : others
  if (cut === 'text' && each.some(({ line }) => line === undefined && own.line === undefined))
    wrong([], 'a text format needs a line')
  if (cut !== 'text' && contains === undefined && each.some(({ when }) => when === undefined && own.when === undefined))
    wrong([], 'something must tell the format from others: when or contains')
  if (examples.length < each.length) wrong([], 'every format and every variant needs an example')
  const spec = {
    ...own,
    id: String(id),
    cut,
    contains,
    separator,
    words,
    variants: others.length === 0 ? undefined : others,
  } as FormatSpec
  return { spec, examples }
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string' && one !== '')

const unknownKeys = (value: object, keys: readonly string[], path: Path, wrong: Complain): void => {
  for (const key of Object.keys(value))
    if (!keys.includes(key)) wrong([...path, key], `${key} is nothing a format can have`)
}

const variantOf = (
  value: Readonly<Record<string, unknown>>,
  cut: string,
  path: Path,
  wrong: Complain,
  examples: Example[],
): Variant => {
  const { id, line, when, fields, set, activity, example } = value
  const problem = typeof line === 'string' ? problemOfLine(line) : undefined
  if (line !== undefined && (typeof line !== 'string' || cut !== 'text'))
    wrong([...path, 'line'], 'line is for formats that cut text')
  if (problem !== undefined) wrong([...path, 'line'], problem)
  const keyed = (name: string, map: unknown, isValue: (one: unknown) => boolean, message: string): void => {
    if (map === undefined) return
    if (!isMap(map)) wrong([...path, name], `${name} must be \`name: value\` lines`)
    else
      for (const [key, one] of Object.entries(map)) {
        if (cut === 'csv' && name !== 'set' && !/^[1-9]\d{0,2}$/.test(key))
          wrong([...path, name, key], `${key} is no column: they count from 1`)
        if (!isValue(one)) wrong([...path, name, key], `${String(one)} ${message}`)
      }
  }
  keyed('when', when, (one) => isText(one) || isTexts(one), 'is no text')
  keyed(
    'fields',
    fields,
    (one) => typeof one === 'string' && ecsNames.includes(one),
    'is no name that a piece can have',
  )
  keyed('set', set, (one) => one === 'allowed' || one === 'blocked', 'is no action: allowed or blocked')
  if (isMap(set) && Object.keys(set).some((name) => name !== 'event.action'))
    wrong([...path, 'set'], 'only event.action can be set')
  if (activity !== undefined && !activities.some((one) => one === activity))
    wrong([...path, 'activity'], `activity must be one of ${activities.join(', ')}`)
  if (example !== undefined) readExample(example, [...path, 'example'], wrong, examples)
  return { id, line, fields, set, activity, when: isMap(when) ? textsOf(when) : undefined } as Variant
}

/** A number in YAML matches the same number as text in a line. */
const textsOf = (map: Readonly<Record<string, unknown>>): Record<string, string | readonly string[]> =>
  Object.fromEntries(Object.entries(map).map(([key, one]) => [key, Array.isArray(one) ? one.map(String) : String(one)]))

const readExample = (example: unknown, path: Path, wrong: Complain, examples: Example[]): void => {
  if (!isMap(example) || typeof example.line !== 'string') {
    wrong(path, 'an example needs a line')
    return
  }
  const { line, ...rest } = example
  for (const name of Object.keys(rest))
    if (!ecsNames.includes(name) || !isText(rest[name]))
      wrong([...path, name], `${name} is no name that a piece can have`)
  examples.push({
    path,
    line,
    expected: Object.fromEntries(Object.entries(rest).map(([name, one]) => [name, String(one)])),
  })
}

/** The problem with a template; undefined if it is sound. */
const problemOfLine = (line: string): string | undefined => {
  const parts = partsOf(line)
  const unknown = parts.find(({ hole }) => isNamed(hole) && !ecsNames.includes(hole))
  if (unknown) return `{${unknown.hole}} is no name that a piece can have`
  if (parts.every(({ hole }) => hole === '')) return 'line has no piece in it'
  return parts.some(({ hole }, at) => hole !== '' && parts[at + 1]?.literal === '')
    ? 'two pieces need some text between them'
    : undefined
}
