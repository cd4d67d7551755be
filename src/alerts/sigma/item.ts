// One line of a selection, a field with its modifiers and values, becomes a test.
import { parseRange, readAddress } from '../../domain/address.js'
import { createRangeSet } from '../../domain/range-set.js'
import { closestMember, valuesOf } from '../annotation-fields.js'
import { both, type Expression, type Test, type View } from './expression.js'
import { textOf } from './field.js'
import type { Fields } from './fields.js'
import { readModifiers, type Comparison, type Modifiers } from './modifiers.js'
import { createTextTest, literalOf, parsePattern, withAffix, type Affix, type TextTest } from './pattern.js'
import { createRegexTest } from './regex.js'

export type Scalar = string | number | boolean | null
type Wrong = { readonly wrong: string }
type ValueTest = (value: unknown) => boolean

/** `key` as it stands in the rule: `source.ip|cidr`, or for words anywhere `''` or `'|all'`. */
export const compileItem = (key: string, values: readonly Scalar[], fields: Fields): Expression | Wrong => {
  const [field = '', ...names] = key.split('|')
  const modifiers = readModifiers(names)
  if ('wrong' in modifiers) return modifiers
  const { how, all } = modifiers
  if (values.length === 0) return { wrong: 'has no value to compare with' }
  if (field === '') return anywhere(values, modifiers, fields)
  const member = fields.memberOf(field)
  if (member !== undefined && valuesOf(member) === undefined) {
    const meant = closestMember(member)
    return {
      wrong: `the annotation has no member ${JSON.stringify(member)}${meant === undefined ? '' : `; ${meant} may be meant`}`,
    }
  }
  const slot = fields.slotOf(field)
  if (how.by === 'exists') {
    const [wanted] = values
    if (values.length !== 1 || typeof wanted !== 'boolean') return { wrong: 'exists takes true or false' }
    return {
      kind: 'test',
      field,
      holds: (view) => (view.read(slot) !== undefined) === wanted,
      witness: (view) => view.read(slot),
    }
  }
  if (how.by === 'fieldref') return each(values, all, (value) => sameAs(field, value, how.affix, modifiers, fields))
  const groups: (readonly Scalar[])[] = all ? values.map((value) => [value]) : [values]
  const parts = groups.map((group) => compare(field, slot, group, modifiers, member))
  return parts.find((part) => 'wrong' in part) ?? both('and', parts as Expression[])
}

const each = (
  values: readonly Scalar[],
  all: boolean,
  build: (value: Scalar) => Expression | Wrong,
): Expression | Wrong => {
  const parts = values.map(build)
  return parts.find((part) => 'wrong' in part) ?? both(all ? 'and' : 'or', parts as Expression[])
}

/** Any of the values. Null is no value: it holds where the field has none. */
const compare = (
  field: string,
  slot: number,
  values: readonly Scalar[],
  modifiers: Modifiers,
  member: string | undefined,
): Expression | Wrong => {
  const given = values.filter((value) => value !== null)
  const parts: Expression[] = []
  if (given.length < values.length) {
    if (modifiers.how.by !== 'text' || modifiers.how.affix) return { wrong: 'null can only stand for itself' }
    parts.push({ kind: 'test', field, holds: (view) => isNothing(view.read(slot)), witness: () => null })
  }
  if (given.length > 0) {
    const test = valueTest(given, modifiers)
    if ('wrong' in test) return test
    const needs = member === undefined ? undefined : needsOf(member, test)
    if (needs && 'wrong' in needs) return needs
    parts.push({ kind: 'test', field, ...anyValue(slot, test), ...(needs && { needs }) })
  }
  return both('or', parts)
}

const isNothing = (value: unknown): boolean =>
  value === undefined || value === null || (Array.isArray(value) && value.every((one) => one === null))

const anyValue = (slot: number, test: ValueTest): Pick<Test, 'holds' | 'witness'> => ({
  holds: (view) => {
    const value = view.read(slot)
    return Array.isArray(value) ? value.some(test) : value !== undefined && test(value)
  },
  witness: (view) => {
    const value = view.read(slot)
    return Array.isArray(value) ? (value.find(test) as unknown) : value
  },
})

/** A test of a member with a closed list of values that none of them passes could never hold. */
const needsOf = (member: string, test: ValueTest): Test['needs'] | Wrong | undefined => {
  const values = valuesOf(member)
  if (values === undefined || values === 'any') return undefined
  const possible = values.filter(test)
  if (possible.length === 0) return { wrong: `can never match: ${member} is one of ${values.join(', ')}` }
  return member.includes('.') ? undefined : { member, values: new Set(possible.map(String)) }
}

const valueTest = (values: readonly Exclude<Scalar, null>[], { how, cased }: Modifiers): ValueTest | Wrong => {
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

const textTest = (
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
    const text = textOf(value)
    return text !== undefined && test(cased ? text : lower(text))
  }

let lastText = ''
let lastLower = ''
/** Many rules test the same long text. */
const lower = (text: string): string => {
  if (text.length < 256) return text.toLowerCase()
  if (text !== lastText) {
    lastText = text
    lastLower = text.toLowerCase()
  }
  return lastLower
}

const anywhere = (values: readonly Scalar[], modifiers: Modifiers, fields: Fields): Expression | Wrong => {
  const { how, all, cased } = modifiers
  if (how.by !== 'text' && how.by !== 're') return { wrong: `${how.by} needs a field` }
  fields.searchesAnywhere()
  return each(values, all, (value) => {
    if (value === null) return { wrong: 'null can be found nowhere' }
    const test = how.by === 're' ? valueTest([value], modifiers) : textTest([value], how.affix ?? 'contains', cased)
    if ('wrong' in test) return test
    const find = (view: View): string | undefined => view.leaves().find(test)
    return { kind: 'test', holds: (view) => find(view) !== undefined, witness: find }
  })
}

const sameAs = (
  field: string,
  other: Scalar,
  affix: Affix | undefined,
  { cased }: Modifiers,
  fields: Fields,
): Expression | Wrong => {
  if (typeof other !== 'string' || other === '') return { wrong: 'fieldref takes the name of a field' }
  const member = fields.memberOf(other)
  if (member !== undefined && valuesOf(member) === undefined)
    return { wrong: `the annotation has no member ${JSON.stringify(member)}` }
  const [slot, otherSlot] = [fields.slotOf(field), fields.slotOf(other)]
  const textsOf = (value: unknown): string[] =>
    (Array.isArray(value) ? value : [value]).flatMap((one) => {
      const text = textOf(one)
      return text === undefined ? [] : [cased ? text : text.toLowerCase()]
    })
  const alike = (text: string, wanted: string): boolean => {
    if (affix === 'contains') return text.includes(wanted)
    if (affix === 'startswith') return text.startsWith(wanted)
    return affix === 'endswith' ? text.endsWith(wanted) : text === wanted
  }
  const find = (view: View): string | undefined => {
    const wanted = new Set(textsOf(view.read(otherSlot)))
    if (wanted.size === 0) return undefined
    const texts = textsOf(view.read(slot))
    if (affix === undefined) return texts.find((text) => wanted.has(text))
    return texts.find((text) => [...wanted].some((one) => alike(text, one)))
  }
  return { kind: 'test', field, holds: (view) => find(view) !== undefined, witness: find }
}
