// Compiles the values of a selection line into a test of one value: text, regular expression, range or number.
import { parseRange, readAddress } from '../../domain/address.js'
import { createRangeSet } from '../../domain/range-set.js'
import { scalarText } from './field.js'
import type { Comparison, Modifiers } from './modifiers.js'
import { createTextTest, literalOf, parsePattern, withAffix, type Affix, type TextTest } from './pattern.js'
import { createRegexTest } from './regex.js'
import type { Scalar, Wrong } from './scalar.js'

export type ValueTest = (value: unknown) => boolean

export const valueTest = (values: readonly Exclude<Scalar, null>[], { how, cased }: Modifiers): ValueTest | Wrong => {
  switch (how.by) {
    case 'text':
      return textTest(values, how.affix, cased)
    case 're': {
      const tests = values.map((value) =>
        typeof value === 'string' ? createRegexTest(value, how.flags) : { wrong: 'is no text' },
      )
      const bad = tests.find((test) => 'wrong' in test)
      if (bad && 'wrong' in bad) return { wrong: `the regular expression cannot be used: ${bad.wrong}` }
      return onText(anyTest(tests as TextTest[]), true)
    }
    case 'cidr': {
      const ranges = values.map((value) => (typeof value === 'string' ? parseRange(value) : undefined))
      const bad = ranges.indexOf(undefined)
      if (bad >= 0) return { wrong: `${JSON.stringify(values[bad])} is no range such as 198.51.100.0/24` }
      const set = createRangeSet(ranges.filter((range) => range !== undefined))
      return (value) => {
        const address = typeof value === 'string' ? readAddress(value) : undefined
        return address !== undefined && set.has(address)
      }
    }
    case 'number': {
      const bounds = values.map((value) => (typeof value === 'number' ? value : Number.NaN))
      if (bounds.some(Number.isNaN)) return { wrong: `${how.comparison} takes a number` }
      const [bound = 0] = bounds
      return bounds.length === 1
        ? numberTest(how.comparison, bound)
        : { wrong: `${how.comparison} takes one number, not a list` }
    }
    case 'exists':
    case 'fieldref':
      throw new Error('compared elsewhere')
  }
}

const numberTest = (comparison: Comparison, bound: number): ValueTest => {
  const holds = {
    gt: (value: number) => value > bound,
    gte: (value: number) => value >= bound,
    lt: (value: number) => value < bound,
    lte: (value: number) => value <= bound,
  }[comparison]
  return (value) =>
    typeof value === 'number' ? holds(value) : typeof value === 'string' && isNumeric(value) && holds(Number(value))
}
const isNumeric = (text: string): boolean => text.length <= 64 && text.trim() !== '' && Number.isFinite(Number(text))

export const textTest = (
  values: readonly Exclude<Scalar, null>[],
  affix: Affix | undefined,
  cased: boolean,
): ValueTest | Wrong => {
  if (affix && values.some((value) => typeof value === 'boolean'))
    return { wrong: `${affix} takes text, not true or false` }
  const patterns = values.map((value) => parsePattern(String(value)))
  const literals = affix ? [] : patterns.map(literalOf)
  if (literals.length > 1 && literals.every((literal) => literal !== undefined)) {
    const set = new Set(literals.map((literal) => (cased ? literal : literal.toLowerCase())))
    return onText((text) => set.has(text), cased)
  }
  const tests = patterns.map((pattern) => createTextTest(affix ? withAffix(pattern, affix) : pattern, cased))
  return onText(anyTest(tests), cased)
}

const anyTest = (tests: readonly TextTest[]): TextTest => {
  const [only] = tests
  return only !== undefined && tests.length === 1 ? only : (text) => tests.some((test) => test(text))
}

const onText =
  (test: TextTest, cased: boolean): ValueTest =>
  (value) => {
    const text = scalarText(value)
    return text !== undefined && test(cased ? text : lower(text))
  }

let lastText = ''
let lastLower = ''
/** Caches the last text, because many rules test the same long text. */
const lower = (text: string): string => {
  if (text.length < 256) return text.toLowerCase()
  if (text !== lastText) {
    lastText = text
    lastLower = text.toLowerCase()
  }
  return lastLower
}
