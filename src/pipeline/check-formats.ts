// Checks formats before they are used: their shape, their names, their examples, and that no line is two formats' own.
import type { FormatDocument } from '../domain/format-document.js'
import type { FileProblem } from '../domain/file-problem.js'
import { parseAddress } from '../domain/address.js'
import { lineKinds, type Extraction } from '../domain/sighting.js'
import { decode, decodeLimits } from './decode.js'
import { createExtract, extractLimits } from './extract.js'
import { ecsNames } from './read/ecs.js'
import { createFieldOf } from './read/field.js'
import { compileFormats, cuts, type FormatSpec, type Line, type Variant } from './read/formats.js'
import { pairsOf } from './read/pairs.js'
import { readSyslog } from './read/syslog.js'
import { problemOfLine } from './read/template.js'

/** A format as it stood in a file: plain values, and where each of them is. */
export type CheckedFormats = { readonly formats: readonly FormatSpec[]; readonly problems: readonly FileProblem[] }

type Path = readonly (string | number)[]
type Complain = (path: Path, message: string) => void
export type Example = {
  readonly path: Path
  readonly line: string
  readonly expected: Readonly<Record<string, string>>
}
type Checked = { readonly spec: FormatSpec; readonly examples: readonly Example[]; readonly wrong: Complain }

const variantKeys = ['id', 'line', 'when', 'fields', 'set', 'example']
const formatKeys = [...variantKeys, 'cut', 'contains', 'separator', 'words', 'variants']

/** `known` are formats that were checked before: a new one may neither take their ids nor their lines. */
export const checkFormats = (sources: readonly FormatDocument[], known: readonly FormatSpec[] = []): CheckedFormats => {
  const problems: FileProblem[] = []
  const checked: Checked[] = []
  for (const source of sources) {
    const wrong: Complain = (path, message) => problems.push({ file: source.file, line: source.lineOf(path), message })
    const before = problems.length
    const format = formatOf(source.value, wrong)
    if (format === undefined || problems.length > before) continue
    const id = format.spec.id
    if (known.some((one) => one.id === id) || checked.some(({ spec }) => spec.id === id))
      wrong(['id'], `another format has the id ${id}`)
    else checked.push({ ...format, wrong })
  }
  const all = [...known, ...checked.map(({ spec }) => spec)]
  const extract = createExtract({ ...extractLimits, formats: all })
  for (const [place, { spec, examples, wrong }] of checked.entries())
    for (const { path, line, expected } of examples) {
      const ids = recognisedBy(all, line)
      const other = ids.find((id) => id !== spec.id)
      const newer = checked.findIndex((one) => one.spec.id === other)
      if (newer > place)
        checked[newer]?.wrong(
          ['id'],
          `matches an example of ${spec.id} too, and two formats must not match the same line: ${line}`,
        )
      else if (other !== undefined)
        wrong(path, `this line is also one of ${other}: two formats must not match the same line`)
      else if (ids.length === 0) wrong(path, 'this line is not recognised by the format')
      else {
        const found = extract(decode(Buffer.from(line), decodeLimits))
        for (const [name, value] of Object.entries(expected))
          for (const message of differences(found, { [name]: value })) wrong([...path, name], message)
      }
    }
  return { formats: checked.map(({ spec }) => spec), problems }
}

/** The ids of all formats that recognise the line; more than one is an error. */
export const recognisedBy = (specs: readonly FormatSpec[], line: string): readonly string[] => {
  const { body } = readSyslog(line)
  const pairs = pairsOf(body)
  const value = jsonOf(line)
  const atKey = (key: string): string | undefined => pairs.find((pair) => pair.key === key)?.value
  const whole: Line = { text: line, start: line.length - body.length }
  const cut = {
    text: whole,
    csv: whole,
    pairs: { text: body, start: 0, at: atKey },
    json: { ...whole, at: (path: string) => textAt(value, path) },
  }
  return specs.filter((spec) => compileFormats([spec])(spec.cut, cut[spec.cut])).map(({ id }) => id)
}

const jsonOf = (line: string): unknown => {
  if (!line.startsWith('{')) return undefined
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
const textAt = (value: unknown, path: string): string | undefined => {
  const found = path.split('.').reduce<unknown>((at, name) => (isMap(at) ? at[name] : undefined), value)
  return typeof found === 'string' || typeof found === 'number' ? String(found) : undefined
}

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isText = (value: unknown): value is string | number => typeof value === 'string' || typeof value === 'number'

const formatOf = (value: unknown, wrong: Complain): Omit<Checked, 'wrong'> | undefined => {
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
  const { id, line, when, fields, set, example } = value
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
  if (example !== undefined) readExample(example, [...path, 'example'], wrong, examples)
  return { id, line, fields, set, when: isMap(when) ? textsOf(when) : undefined } as Variant
}

/** A number in YAML is the same number as text in a line. */
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

const fieldOf = createFieldOf()

/** What an example says is in its line, and what was found there instead. */
export const differences = (found: Extraction, expected: Example['expected']): readonly string[] =>
  Object.entries(expected).flatMap(([name, value]) => {
    const { role } = fieldOf(name)
    const seen = found.sightings.filter((sighting) => sighting.role === role).map((sighting) => sighting.value)
    const port = role === 'source' ? found.sourcePort : found.destinationPort
    const is = name === 'event.action' ? [found.action] : name.endsWith('.port') ? [String(port ?? 0)] : seen
    const wanted = parseAddress(value) ?? value.toLowerCase()
    return is.includes(wanted) ? [] : [`${name} should be ${value}, found ${is.join(', ') || 'nothing'}`]
  })
