// Reads STIX patterns: the values that a pattern accuses one by one, and why the rest of it cannot be used.
import type { SkipReason } from '../domain/skipped.js'
import { parsePort } from './parse-port.js'

/** Values that each match alone, and for every other alternative the reason why it cannot be looked up. */
type PatternReading = { readonly values: readonly string[]; readonly skipped: readonly SkipReason[] }

const maxLength = 1 << 20
const maxDepth = 100
const broken: PatternReading = { values: [], skipped: ['broken'] }

/**
 * Reads exactly the patterns whose values are joined by OR or IN, so that each one suffices alone. A port at the same end belongs to its
 * address; a protocol or another property of the same object only narrows the value. Using a part of any other pattern would accuse more
 * than its author meant.
 */
export const readPattern = (pattern: string): PatternReading => {
  const tokens = pattern.length > maxLength ? undefined : tokensOf(pattern)
  if (!tokens) return broken
  const reader: Reader = { tokens, at: 0, depth: 0 }
  const meaning = observations(reader)
  if (!meaning || reader.at < tokens.length) return broken
  return { values: meaning.values.flatMap(entriesOf), skipped: meaning.skipped }
}

type Token = { readonly kind: 'text' | 'word' | 'sign' | 'literal'; readonly text: string }

/** A comment, a string, a timestamp or bytes, a word, a number, or a sign. */
const token =
  /(?:\s|\/\*[^]*?\*\/|\/\/[^\n]*)+|'([^'\\]*(?:\\[^][^'\\]*)*)'|([thb]'[^']*')|([A-Za-z_][\w-]*)|(-?\d+(?:\.\d+)?)|(==|!=|<>|<=|>=|[=<>[\]().:,*])/y

const tokensOf = (pattern: string): Token[] | undefined => {
  const tokens: Token[] = []
  token.lastIndex = 0
  while (token.lastIndex < pattern.length) {
    const found = token.exec(pattern)
    if (!found) return undefined
    const [, text, constant, word, number, sign] = found
    if (text !== undefined) tokens.push({ kind: 'text', text: text.replace(/\\([^])/g, '$1') })
    else if (word !== undefined) tokens.push({ kind: 'word', text: word })
    else if (sign !== undefined) tokens.push({ kind: 'sign', text: sign })
    else if (constant !== undefined || number !== undefined)
      tokens.push({ kind: 'literal', text: constant ?? number ?? '' })
  }
  return tokens
}

/** Every rule below returns undefined for a broken pattern. */
type Reader = { readonly tokens: readonly Token[]; at: number; depth: number }

/** For an address: its end of the connection, and the listed ports at that end. */
type Value = {
  readonly text: string
  readonly of: string
  readonly end?: End | undefined
  readonly ports?: readonly string[]
}
type End = 'src' | 'dst'
type EndPort = { readonly end: End; readonly port: string }
/** `narrows`: accuses nothing by itself, but narrows objects of these types; `ports` are among its conditions. */
type Meaning = {
  readonly values: readonly Value[]
  readonly skipped: readonly SkipReason[]
  readonly narrows?: readonly string[]
  readonly ports?: readonly EndPort[]
}

/** The notation of a list entry. */
const entriesOf = ({ text, ports = [] }: Value): readonly string[] =>
  ports.length === 0 || text.includes('/')
    ? [text]
    : ports.map((port) => (text.includes(':') ? `[${text}]:${port}` : `${text}:${port}`))

const skippedAs = (reason: SkipReason): Meaning => ({ values: [], skipped: [reason] })

const takeSign = (reader: Reader, text: string): boolean => {
  const next = reader.tokens[reader.at]
  if (next?.kind !== 'sign' || next.text !== text) return false
  reader.at++
  return true
}

const takeWord = (reader: Reader, ...words: readonly string[]): boolean => {
  const next = reader.tokens[reader.at]
  if (next?.kind !== 'word' || !words.includes(next.text.toUpperCase())) return false
  reader.at++
  return true
}

const take = (reader: Reader, ...kinds: readonly Token['kind'][]): Token | undefined => {
  const next = reader.tokens[reader.at]
  if (!next || !kinds.includes(next.kind)) return undefined
  reader.at++
  return next
}

type Rule = (reader: Reader) => Meaning | undefined

const joined =
  (word: string, part: Rule, join: (parts: readonly Meaning[]) => Meaning): Rule =>
  (reader) => {
    const parts: Meaning[] = []
    do {
      const meaning = part(reader)
      if (!meaning) return undefined
      parts.push(meaning)
    } while (takeWord(reader, word))
    const [only] = parts
    return only && parts.length === 1 ? only : join(parts)
  }

const inBrackets = (reader: Reader, inner: Rule, end: string): Meaning | undefined => {
  if (reader.depth === maxDepth) return undefined
  reader.depth++
  const meaning = inner(reader)
  reader.depth--
  return meaning && takeSign(reader, end) ? meaning : undefined
}

/** Each part suffices alone. A part that only narrows accuses nothing. */
const eitherOf = (parts: readonly Meaning[]): Meaning => {
  if (parts.every(({ narrows }) => narrows))
    return {
      ...nothing,
      narrows: parts.flatMap(({ narrows = [] }) => narrows),
      // If an alternative is not a port, no port is required.
      ...(parts.every(({ ports }) => ports) && { ports: parts.flatMap(({ ports = [] }) => ports) }),
    }
  const told = parts.map(asAccusation)
  return { values: told.flatMap(({ values }) => values), skipped: told.flatMap(({ skipped }) => skipped) }
}
const nothing = { values: [], skipped: [] } as const

const asAccusation = (meaning: Meaning): Meaning => (meaning.narrows ? skippedAs('not_looked_up') : meaning)

const isNotLookedUp = ({ values, skipped }: Meaning): boolean =>
  values.length === 0 && skipped.every((reason) => reason === 'not_looked_up')

const togetherSeen = (parts: readonly Meaning[]): Meaning =>
  skippedAs(parts.every(isNotLookedUp) ? 'not_looked_up' : 'combined')

/** Conditions on one object or connection: still one value if all others only narrow it. */
const allOf = (parts: readonly Meaning[]): Meaning => {
  const narrowing = parts.flatMap(({ narrows = [] }) => narrows)
  const accusing = parts.filter(({ narrows }) => !narrows)
  const [first, ...others] = accusing
  const ports = parts.flatMap((part) => (part.narrows ? (part.ports ?? []) : []))
  if (!first) return { ...nothing, narrows: narrowing, ...(ports.length > 0 && { ports }) }
  const isSame = others.every((other) => isOneValue(other) && other.values[0]?.text === first.values[0]?.text)
  if (others.length > 0 && !(isSame && isOneValue(first))) return togetherSeen(accusing)
  const isAbout = ({ of }: Value): boolean => narrowing.every((type) => type === 'network-traffic' || type === of)
  return first.values.every(isAbout) ? withPorts(first, ports) : skippedAs('combined')
}

/** Without an explicit end, an address is the destination. */
const withPorts = (meaning: Meaning, ports: readonly EndPort[]): Meaning =>
  ports.length === 0
    ? meaning
    : {
        ...meaning,
        values: meaning.values.map((value) =>
          isAddressType(value.of)
            ? { ...value, ports: ports.filter(({ end }) => end === (value.end ?? 'dst')).map(({ port }) => port) }
            : value,
        ),
      }

const isAddressType = (type: string): boolean => /^(?:ipv[46]-addr|network-traffic)$/.test(type)

const isOneValue = ({ values, skipped }: Meaning): boolean => values.length === 1 && skipped.length === 0

const observation: Rule = (reader) => {
  const meaning = takeSign(reader, '[')
    ? inBrackets(reader, comparisons, ']')
    : takeSign(reader, '(')
      ? inBrackets(reader, observations, ')')
      : undefined
  if (!meaning) return undefined
  let isQualified = false
  for (;;) {
    const qualified = qualifier(reader)
    if (qualified === undefined) return undefined
    if (!qualified) break
    isQualified = true
  }
  const accused = asAccusation(meaning)
  return isQualified && accused.values.length > 0 ? skippedAs('qualified') : accused
}

/** Whether there was a qualifier; undefined if it is broken. */
const qualifier = (reader: Reader): boolean | undefined => {
  if (takeWord(reader, 'WITHIN')) return (take(reader, 'literal') && takeWord(reader, 'SECONDS', 'SECOND')) || undefined
  if (takeWord(reader, 'REPEATS')) return (take(reader, 'literal') && takeWord(reader, 'TIMES', 'TIME')) || undefined
  if (!takeWord(reader, 'START')) return false
  const isWhole = take(reader, 'literal', 'text') && takeWord(reader, 'STOP') && take(reader, 'literal', 'text')
  return isWhole ? true : undefined
}

const test: Rule = (reader) => {
  const isNegated = takeWord(reader, 'NOT')
  const meaning = takeSign(reader, '(') ? inBrackets(reader, comparisons, ')') : comparison(reader)
  if (!meaning || !isNegated || meaning.narrows || isNotLookedUp(meaning)) return meaning
  return skippedAs('negated')
}

const observations: Rule = (reader) => allObservations(reader)
const comparisons: Rule = (reader) => allComparisons(reader)
const allObservations = joined(
  'FOLLOWEDBY',
  joined('OR', joined('AND', observation, togetherSeen), eitherOf),
  togetherSeen,
)
const allComparisons = joined('OR', joined('AND', test, allOf), eitherOf)

type Path = { readonly type: string; readonly steps: string }

/** `file:hashes.'SHA-256'`, `domain-name:resolves_to_refs[*].value`: the type, and the rest without quotes. */
const pathOf = (reader: Reader): Path | undefined => {
  const type = take(reader, 'word')
  if (!type || !takeSign(reader, ':')) return undefined
  let steps = ''
  do {
    const name = take(reader, 'word', 'text')
    if (!name) return undefined
    steps += `${steps === '' ? '' : '.'}${name.text}`
    while (takeSign(reader, '[')) {
      if (!takeSign(reader, '*') && !take(reader, 'literal', 'word', 'text')) return undefined
      if (!takeSign(reader, ']')) return undefined
      steps += '[]'
    }
  } while (takeSign(reader, '.'))
  return { type: type.text.toLowerCase(), steps }
}

const operators = ['IN', 'LIKE', 'MATCHES', 'ISSUBSET', 'ISSUPERSET']

const comparison: Rule = (reader) => {
  if (takeWord(reader, 'EXISTS')) {
    const path = pathOf(reader)
    return path && meaningOf(path, 'EXISTS', [], false)
  }
  const path = pathOf(reader)
  const isNegated = takeWord(reader, 'NOT')
  const operator = take(reader, 'sign', 'word')
  if (!path || !operator) return undefined
  const name = operator.text.toUpperCase()
  if (operator.kind === 'word' ? !operators.includes(name) : !/^[=<>!]/.test(name)) return undefined
  const operands = name === 'IN' ? operandList(reader) : operandList(reader, 1)
  return operands && meaningOf(path, name, operands, isNegated)
}

/** One literal, or a list such as `('a', 'b')`. */
const operandList = (reader: Reader, count?: number): readonly Token[] | undefined => {
  const operands: Token[] = []
  if (count === undefined && !takeSign(reader, '(')) return undefined
  do {
    const operand = take(reader, 'text', 'literal', 'word')
    // The only words that are values.
    if (!operand || (operand.kind === 'word' && !/^(?:true|false)$/i.test(operand.text))) return undefined
    operands.push(operand)
  } while (operands.length !== count && takeSign(reader, ','))
  return count !== undefined || takeSign(reader, ')') ? operands : undefined
}

const isAddress = ({ type, steps }: Path): boolean =>
  (/^ipv[46]-addr$/.test(type) && steps === 'value') ||
  (type === 'network-traffic' && /^(?:src|dst)_ref\.value$/.test(steps))
const isName = ({ type, steps }: Path): boolean =>
  /^(?:domain-name|url|hostname|x-opencti-hostname)$/.test(type) && steps === 'value'

/** Whether the property narrows the connection or object that a value belongs to. */
const isNarrowing = ({ type, steps }: Path): boolean =>
  type === 'network-traffic'
    ? /^(?:(?:src|dst)_(?:ref\.type|port)|protocols\[\]|protocols|start|end|is_active|x_\w+)$/.test(steps)
    : /^(?:ipv[46]-addr|domain-name|url|hostname|x-opencti-hostname)$/.test(type)

const meaningOf = (path: Path, operator: string, operands: readonly Token[], isNegated: boolean): Meaning => {
  if (!isAddress(path) && !isName(path))
    return isNarrowing(path)
      ? { ...nothing, narrows: [path.type], ...portsOf(path, operator, operands, isNegated) }
      : skippedAs('not_looked_up')
  if (isNegated || operator === '!=' || operator === '<>') return skippedAs('negated')
  const isExact =
    operator === '=' || operator === '==' || operator === 'IN' || (operator === 'ISSUBSET' && isAddress(path))
  if (!isExact) return skippedAs('inexact')
  const texts = operands.filter(({ kind }) => kind === 'text')
  const others = operands.filter(({ kind }) => kind !== 'text')
  return {
    values: texts.map(({ text }) => ({ text, of: path.type, end: endOf(path) })),
    skipped: others.map(() => 'unusable' as const),
  }
}

const endOf = ({ type, steps }: Path): End | undefined => {
  const end = type === 'network-traffic' ? steps.slice(0, 3) : ''
  return end === 'src' || end === 'dst' ? end : undefined
}

/** `dst_port = 443`, `dst_port IN ('80', '443')`; a condition without exact ports adds nothing. */
const portsOf = (
  path: Path,
  operator: string,
  operands: readonly Token[],
  isNegated: boolean,
): { readonly ports?: readonly EndPort[] } => {
  const end = path.steps.endsWith('_port') ? endOf(path) : undefined
  const isExact = !isNegated && ['=', '==', 'IN'].includes(operator)
  if (end === undefined || !isExact || !operands.every(({ text }) => parsePort(text) !== undefined)) return {}
  return { ports: operands.map(({ text }) => ({ end, port: text })) }
}
