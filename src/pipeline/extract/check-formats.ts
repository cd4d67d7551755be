// Checks formats before they are used: their shape, their examples, and that no line matches two of them.
import type { FormatDocument, FileProblem } from '../../domain/problem.js'
import { eventTime } from '../event-time.js'
import { parseAddress } from '../../domain/address.js'
import type { Extraction, Role } from '../../domain/sighting.js'
import { decode, decodeLimits } from '../decode.js'
import { createExtract, extractLimits, textAt } from './extract.js'
import { createFieldOf } from './field.js'
import { compileFormats, kindOf, type FormatSpec, type Line, type Recognise } from './formats.js'
import { pairsOf } from './pairs.js'
import { readSyslog } from './syslog.js'
import { readFormat, type Complain, type Example, type ReadFormat } from './read-format.js'

/** The formats that could be read, the problems found, and the examples. */
type CheckedFormats = {
  readonly formats: readonly FormatSpec[]
  readonly problems: readonly FileProblem[]
  readonly examples: readonly FormatExample[]
}
/** An example line with the format and the variant it belongs to. */
export type FormatExample = { readonly id: string; readonly variant: string | undefined; readonly line: string }

type Checked = ReadFormat & { readonly wrong: Complain }

type Compiled = FormatSpec & { readonly recognise: Recognise }

/** Checks shape and ids. The tests try the examples of the bundled formats, so this does not. */
export const readFormats = (sources: readonly FormatDocument[]): CheckedFormats => resultOf(read(sources, []))

/** `known` formats were checked before; a new format must not repeat an id of theirs, nor have an example that one of them matches. */
export const checkFormats = (sources: readonly FormatDocument[], known: readonly FormatSpec[] = []): CheckedFormats => {
  const formats = read(sources, known)
  tryExamples(formats.checked, [...known, ...formats.checked.map(({ spec }) => spec)])
  return resultOf(formats)
}

type Formats = { readonly checked: readonly Checked[]; readonly problems: readonly FileProblem[] }

const resultOf = ({ checked, problems }: Formats): CheckedFormats => ({
  formats: checked.map(({ spec }) => spec),
  problems,
  examples: checked.flatMap(({ spec, examples }) =>
    examples.map(({ path, line }) => ({ id: spec.id, variant: spec.variants?.[Number(path[1])]?.id, line })),
  ),
})

/** `problems` keeps growing: later complaints are added to the same list. */
const read = (sources: readonly FormatDocument[], known: readonly FormatSpec[]): Formats => {
  const problems: FileProblem[] = []
  const checked: Checked[] = []
  for (const source of sources) {
    const wrong: Complain = (path, message) => problems.push({ file: source.file, line: source.lineOf(path), message })
    const before = problems.length
    const format = readFormat(source.value, wrong)
    if (format === undefined || problems.length > before) continue
    const id = format.spec.id
    if (known.some((one) => one.id === id) || checked.some(({ spec }) => spec.id === id))
      wrong(['id'], `another format has the id ${id}`)
    else checked.push({ ...format, wrong })
  }
  return { checked, problems }
}

const tryExamples = (checked: readonly Checked[], all: readonly FormatSpec[]): void => {
  const extract = createExtract({ ...extractLimits, formats: all })
  const each = all.map((spec) => ({ ...spec, recognise: compileFormats([spec]) }))
  for (const [place, { spec, examples, wrong }] of checked.entries())
    for (const { path, line, expected } of examples) {
      const ids = recognisedBy(each, line)
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
}

/** The ids of all formats that recognise the line; more than one is an error. */
const recognisedBy = (each: readonly Compiled[], line: string): readonly string[] => {
  const { body } = readSyslog(line)
  const pairs = pairsOf(body)
  const value = jsonOf(line)
  const atKey = (key: string): string | undefined => pairs.find((pair) => pair.key === key)?.value
  const whole: Line = { text: line, start: line.length - body.length }
  const cut = {
    text: whole,
    csv: whole,
    pairs: { ...whole, at: atKey },
    json: { ...whole, at: (path: string) => textAt(value, path) },
  }
  return each.filter((format) => format.recognise(kindOf(format.cut), cut[format.cut])).map(({ id }) => id)
}

const jsonOf = (line: string): unknown => {
  if (!line.startsWith('{')) return undefined
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

const fieldOf = createFieldOf()
/** A fixed clock, so that an example's time without a year always reads the same. */
const exampleNow = Date.UTC(2026, 11, 31)

/** The expected values of an example that were not found, each with the value found instead. */
const differences = (found: Extraction, expected: Example['expected']): readonly string[] =>
  Object.entries(expected).flatMap(([name, value]) => {
    const { role } = fieldOf(name)
    // A host that an outside client asked for has the role `claimed`.
    const isSeen = (one: Role): boolean => one === role || (one === 'claimed' && role === 'url')
    const seen = found.sightings.filter((sighting) => isSeen(sighting.role)).map((sighting) => sighting.value)
    const port = role === 'source' ? found.sourcePort : found.destinationPort
    const at = name === 'time' ? eventTime(found.time ?? '', exampleNow) : undefined
    if (at !== undefined) seen.push(new Date(at).toISOString().toLowerCase())
    const is = name === 'event.action' ? [found.action] : name.endsWith('.port') ? [String(port ?? 0)] : seen
    const wanted = parseAddress(value) ?? value.toLowerCase()
    return is.includes(wanted) ? [] : [`${name} should be ${value}, found ${is.join(', ') || 'nothing'}`]
  })
