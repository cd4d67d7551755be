// Compiles one line of a selection: a field with modifiers and values.
import type { Members } from '../annotation-fields.js'
import { encodeValue } from './encode-values.js'
import { both, type Expression, type Test, type EventView } from './expression.js'
import { scalarText } from './field.js'
import type { Fields } from './fields.js'
import { readModifiers, type Modifiers } from './modifiers.js'
import type { Affix } from './pattern.js'
import type { Scalar, Wrong } from './scalar.js'
import { textTest, valueTest, type ValueTest } from './value-test.js'

/** `key` as written in the rule: `source.ip|cidr`, or `''` or `'|all'` for words anywhere. */
export const compileItem = (key: string, values: readonly Scalar[], fields: Fields): Expression | Wrong => {
  const [field = '', ...names] = key.split('|')
  const modifiers = readModifiers(names)
  if ('wrong' in modifiers) return modifiers
  const { how, all } = modifiers
  if (values.length === 0) return { wrong: 'has no values' }
  if (field === '') return anywhere(values, modifiers)
  const member = fields.memberOf(field)
  if (member !== undefined && fields.members.valuesOf(member) === undefined) {
    const meant = fields.members.closest(member)
    return {
      wrong: `the annotation has no member ${JSON.stringify(member)}${meant === undefined ? '' : `; did you mean ${meant}?`}`,
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
  if (modifiers.neq) return otherThan(field, slot, values, modifiers)
  if (how.by === 'fieldref') return each(values, all, (value) => sameAs(field, value, how.affix, modifiers, fields))
  const encoded = values.map((value) => encodeValue(value, modifiers.encode))
  const bad = encoded.find((one) => 'wrong' in one)
  if (bad && 'wrong' in bad) return bad
  const spellings = encoded as (readonly Scalar[])[]
  const parts = (all ? spellings : [spellings.flat()]).map((group) =>
    compare(
      field,
      slot,
      group,
      modifiers,
      member === undefined ? undefined : (test) => needsOf(member, test, fields.members),
    ),
  )
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

/** Matches any of the values; null matches a missing field. */
const compare = (
  field: string,
  slot: number,
  values: readonly Scalar[],
  modifiers: Modifiers,
  needed: ((test: ValueTest) => Test['needs'] | Wrong | undefined) | undefined,
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
    const needs = needed?.(test)
    if (needs && 'wrong' in needs) return needs
    parts.push({ kind: 'test', field, ...anyValue(slot, test), ...(needs && { needs }) })
  }
  return both('or', parts)
}

const otherThan = (
  field: string,
  slot: number,
  values: readonly Scalar[],
  modifiers: Modifiers,
): Expression | Wrong => {
  const given = values.filter((value) => value !== null)
  if (given.length < values.length) return { wrong: 'neq takes values; what has none is tested by exists' }
  const test = valueTest(given, modifiers)
  if ('wrong' in test) return test
  const { holds } = anyValue(slot, test)
  return {
    kind: 'test',
    field,
    holds: (view) => !isNothing(view.read(slot)) && !holds(view),
    witness: (view) => view.read(slot),
  }
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

/** Rejects tests that no possible value of the member can pass. */
const needsOf = (member: string, test: ValueTest, members: Members): Test['needs'] | Wrong | undefined => {
  const values = members.valuesOf(member)
  if (values === undefined || values === 'any') return undefined
  const possible = values.filter(test)
  if (possible.length === 0) return { wrong: `can never match: ${member} is one of ${values.join(', ')}` }
  return member.includes('.') ? undefined : { member, values: new Set(possible.map(String)) }
}

const anywhere = (values: readonly Scalar[], modifiers: Modifiers): Expression | Wrong => {
  const { how, all, cased, neq } = modifiers
  if (neq) return { wrong: 'neq needs a field' }
  if (how.by !== 'text' && how.by !== 're') return { wrong: `${how.by} needs a field` }
  return each(values, all, (value) => {
    if (value === null) return { wrong: 'null cannot be searched for' }
    const spellings = encodeValue(value, modifiers.encode)
    if ('wrong' in spellings) return spellings
    const texts = spellings.filter((one) => one !== null)
    const test = how.by === 're' ? valueTest(texts, modifiers) : textTest(texts, how.affix ?? 'contains', cased)
    if ('wrong' in test) return test
    const find = (view: EventView): string | undefined => view.leaves().find(test)
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
  if (member !== undefined && fields.members.valuesOf(member) === undefined)
    return { wrong: `the annotation has no member ${JSON.stringify(member)}` }
  const [slot, otherSlot] = [fields.slotOf(field), fields.slotOf(other)]
  const textsOf = (value: unknown): string[] =>
    (Array.isArray(value) ? value : [value]).flatMap((one) => {
      const text = scalarText(one)
      return text === undefined ? [] : [cased ? text : text.toLowerCase()]
    })
  const alike = (text: string, wanted: string): boolean => {
    if (affix === 'contains') return text.includes(wanted)
    if (affix === 'startswith') return text.startsWith(wanted)
    return affix === 'endswith' ? text.endsWith(wanted) : text === wanted
  }
  const find = (view: EventView): string | undefined => {
    const wanted = new Set(textsOf(view.read(otherSlot)))
    if (wanted.size === 0) return undefined
    const texts = textsOf(view.read(slot))
    if (affix === undefined) return texts.find((text) => wanted.has(text))
    return texts.find((text) => [...wanted].some((one) => alike(text, one)))
  }
  return { kind: 'test', field, holds: (view) => find(view) !== undefined, witness: find }
}
