// Every kind of break is seen, and what breaks nothing is not taken for one.
import { describe, expect, it } from 'vitest'
import { breaksOf } from './breaks-of.js'
import { membersOf } from './schema-members.js'

type Schema = Readonly<Record<string, unknown>>
type Case = readonly [what: string, released: Schema, current: Schema, breaks?: readonly string[]]

const text = { type: 'string' }
const number = { type: 'number' }
const integer = { type: 'integer' }
const never = false
const list = { enum: ['a', 'b'] }
const longer = { enum: ['a', 'b', 'c'] }
const growing = { description: 'Why. The list may grow.' }
const object = (properties: Schema, ...required: readonly string[]): Schema => ({
  type: 'object',
  properties,
  required,
})
const closed = (properties: Schema): Schema => ({ ...object(properties), additionalProperties: false })
const withDefinition = (definition: Schema, properties: Schema): Schema => ({
  ...object(properties),
  definitions: { it: definition },
})
const defined = { $ref: '#/definitions/it' }
const whenBad = (then: Schema): Schema => ({
  ...object({ verdict: list, score: number }),
  allOf: [{ if: { properties: { verdict: { const: 'a' } } }, then }],
})
const kinds = (...names: readonly string[]): Schema => ({
  oneOf: names.map((name) => ({ $ref: `#/definitions/${name}` })),
  definitions: { full: object({ all: text }), short: object({ few: text }) },
})
const oneOfThem = (...names: readonly string[]): Schema => ({
  ...object({ path: text, url: text }),
  oneOf: names.map((name) => ({ required: [name] })),
})

const check = (direction: 'written' | 'read', cases: readonly Case[]): void => {
  for (const [what, released, current, breaks = []] of cases)
    it(what, () => {
      expect(breaksOf(direction, released, current)).toEqual(breaks)
      expect(breaksOf(direction, released, released)).toEqual([])
      expect(breaksOf(direction, current, current)).toEqual([])
    })
}

describe('what we write', () => {
  check('written', [
    ['a member is removed', object({ a: text, b: text }), object({ a: text }), ['b: is gone']],
    ['a member is renamed', object({ a: text }), object({ b: text }), ['a: is gone']],
    ['a member of a member is removed', object({ a: object({ b: text }) }), object({ a: object({}) }), ['a/b: is gone']],
    ['a member of elements is removed', { items: object({ b: text }) }, { items: object({}) }, ['[]/b: is gone']],
    ['a member moves into another', object({ a: text }), object({ b: object({ a: text }) }), ['a: is gone']],
    ['a definition loses a member', withDefinition(object({ b: text }), { a: defined }), withDefinition(object({}), { a: defined }), ['a/b: is gone']],
    ['a type is another', object({ a: text }), object({ a: number }), ['a: type number is new']],
    ['a type is added', object({ a: text }), object({ a: { type: ['string', 'null'] } }), ['a: type null is new']],
    ['a type is dropped', object({ a: text }), object({ a: {} }), ['a: any type is new']],
    ['whole numbers become numbers', object({ a: integer }), object({ a: number }), ['a: type number is new']],
    ['elements have another type', { items: text }, { items: number }, ['[]: type number is new']],
    ['a list becomes one value', object({ a: { type: 'array', items: text } }), object({ a: text }), ['a: type string is new', 'a/[]: is gone']],
    ['members of any name have another type', { additionalProperties: text }, { additionalProperties: number }, ['*: type number is new']],
    ['a member is no longer required', object({ a: text }, 'a'), object({ a: text }), ['a: is no longer always there']],
    ['a value is added to a closed list', object({ a: list }), object({ a: longer }), ['a: value "c" is new']],
    ['a value is removed', object({ a: longer }), object({ a: list }), ['a: value "c" is gone']],
    ['a value is removed from a list that may grow', { ...longer, ...growing }, list, ['the whole: value "c" is gone']],
    ['a list is only now called one that may grow', list, { ...longer, ...growing }, ['the whole: value "c" is new']],
    ['a list is given up', { type: 'string', ...list }, text, ['the whole: any value is new']],
    ['the version is another', object({ v: { const: 1 } }), object({ v: { const: 2 } }), ['v: value 2 is new', 'v: value 1 is gone']],
    ['a constant becomes any value', object({ a: { const: true } }), object({ a: { type: 'boolean' } }), ['a: any value is new']],
    ['a limit is raised', { ...number, maximum: 5 }, { ...number, maximum: 6 }, ['the whole: maximum is loosened']],
    ['a limit is lowered', { ...number, minimum: 1 }, { ...number, minimum: 0 }, ['the whole: minimum is loosened']],
    ['a limit is dropped', { type: 'array', maxItems: 16 }, { type: 'array' }, ['the whole: maxItems is loosened']],
    ['a pattern is another', { ...text, pattern: '^a$' }, { ...text, pattern: '^b$' }, ['the whole: pattern is another']],
    ['a format is dropped', { ...text, format: 'date-time' }, text, ['the whole: format is another']],
    ['a condition no longer gives a member', whenBad({ required: ['score'] }), whenBad({}), ['(if {"properties":{"verdict":{"const":"a"}}})/score: is gone']],
    ['one member no longer comes with another', { ...object({ a: text }), dependencies: { a: ['b'] } }, object({ a: text }), ['(if a): is gone', '(if a)/b: is gone']],
    ['there is another kind', kinds('full'), kinds('full', 'short'), ['(one of): value "short" is new']],
    ['a kind is gone', kinds('full', 'short'), kinds('full'), ['(one of): value "short" is gone', '(short): is gone', '(short)/few: is gone']],
    ['neither of two need be there', oneOfThem('path', 'url'), object({ path: text, url: text }), ['(one of): is gone']],
  ]) // prettier-ignore
})

describe('what we write and what breaks nothing', () => {
  check('written', [
    ['a member is added', closed({ a: text }), closed({ a: text, b: text })],
    ['a required member is added', object({ a: text }), object({ a: text, b: text }, 'b')],
    ['a member becomes required', object({ a: text }), object({ a: text }, 'a')],
    ['a value is added to a list that may grow', object({ a: { ...list, ...growing } }), object({ a: longer })],
    ['and where the definition says so', withDefinition({ ...list, ...growing }, { a: defined }), withDefinition({ ...longer, ...growing }, { a: defined })],
    ['numbers become whole numbers', object({ a: number }), object({ a: integer })],
    ['one of two types is no longer used', { type: ['string', 'null'] }, text],
    ['a text becomes a list of values', text, { type: 'string', ...list }],
    ['which need not say its type', text, list],
    ['a list says its type', list, { type: 'string', ...list }],
    ['a limit is tightened', { ...number, maximum: 5 }, { ...number, maximum: 4, minimum: 0 }],
    ['a pattern is added', text, { ...text, pattern: '^a$' }],
    ['words', { ...text, title: 'A', description: 'What.' }, { ...text, description: 'Other words.', deprecated: true }],
    ['a definition is written out', withDefinition(list, { a: defined }), object({ a: list })],
    ['a condition is added', object({ verdict: list, score: number }), whenBad({ required: ['score'] })],
    ['what had to be absent may be there', whenBad({ properties: { score: never } }), whenBad({})],
    ['a schema contains itself', object({ a: { items: { $ref: '#' } } }), object({ a: { items: { $ref: '#' } }, b: text })],
  ]) // prettier-ignore
})

describe('what users write', () => {
  check('read', [
    ['a member is removed', closed({ a: text, b: text }), closed({ a: text }), ['b: is gone']],
    ['a type is another', object({ a: text }), object({ a: number }), ['a: type string is refused']],
    ['a type is no longer taken', { type: ['string', 'number'] }, text, ['the whole: type number is refused']],
    ['any type was taken', {}, text, ['the whole: any type is refused']],
    ['numbers must be whole', number, integer, ['the whole: type number is refused']],
    ['a value is removed', object({ a: longer }), object({ a: list }), ['a: value "c" is refused']],
    ['a choice is removed', { anyOf: [{ const: 'a' }, { const: 'b' }] }, { const: 'a' }, ['the whole: value "b" is refused']],
    ['a text becomes a list of values', text, { type: 'string', ...list }, ['the whole: any value is refused']],
    ['a value is forbidden', { ...text, not: { enum: ['x'] } }, { ...text, not: { enum: ['x', 'y'] } }, ['the whole: value "y" is refused']],
    ['a member is required', object({ a: text }), object({ a: text }, 'a'), ['a: is required']],
    ['a member is added and required', object({ a: text }), object({ a: text, b: text }, 'b'), ['b: is required']],
    ['and inside another', object({ a: object({}) }), object({ a: object({ b: text }, 'b') }), ['a/b: is required']],
    ['a default is another', object({ a: { ...number, default: 1 } }), object({ a: { ...number, default: 2 } }), ['a: has another default']],
    ['a default is dropped', object({ a: { ...number, default: 1 } }, 'a'), object({ a: number }, 'a'), ['a: has another default']],
    ['a default is added', object({ a: number }), object({ a: { ...number, default: 1 } }), ['a: has another default']],
    ['a limit is lowered', { ...number, maximum: 5 }, { ...number, maximum: 4 }, ['the whole: maximum is tightened']],
    ['a limit is raised', { ...number, exclusiveMinimum: 0 }, { ...number, exclusiveMinimum: 1 }, ['the whole: exclusiveMinimum is tightened']],
    ['an upper limit is lowered', { ...number, exclusiveMaximum: 2 }, { ...number, exclusiveMaximum: 1 }, ['the whole: exclusiveMaximum is tightened']],
    ['a limit is added', text, { ...text, maxLength: 10 }, ['the whole: maxLength is tightened']],
    ['elements may not repeat', { type: 'array' }, { type: 'array', uniqueItems: true }, ['the whole: uniqueItems is tightened']],
    ['a pattern is added', text, { ...text, pattern: '^a$' }, ['the whole: pattern is another']],
    ['a format is another', { ...text, format: 'url' }, { ...text, format: 'regex' }, ['the whole: format is another']],
    ['members of any name are refused', object({ a: text }), closed({ a: text }), ['the whole: members of any name are refused']],
    ['names are limited', { propertyNames: longer }, { propertyNames: list }, ['(names): value "c" is refused']],
    ['a way to say it is removed', oneOfThem('path', 'url'), oneOfThem('path'), ['(one of): value ["url"] is refused']],
    ['one of some is required', object({ path: text, url: text }), oneOfThem('path', 'url'), ['(one of): is a new condition']],
    ['one member requires another', object({ a: text, b: text }), { ...object({ a: text, b: text }), dependencies: { a: ['b'] } }, ['(if a): is a new condition']],
    ['a condition is added', object({ verdict: list, score: number }), whenBad({ required: ['score'] }), ['(if {"properties":{"verdict":{"const":"a"}}}): is a new condition']],
    ['a condition asks for more', whenBad({}), whenBad({ properties: { score: never } }), ['(if {"properties":{"verdict":{"const":"a"}}})/score: is a new condition']],
    ['a member must be absent', object({ a: text }), object({ a: never }), ['a: type string is refused']],
  ]) // prettier-ignore
})

describe('what users write and what breaks nothing', () => {
  check('read', [
    ['a member is added', closed({ a: text }), closed({ a: text, b: text })],
    ['a member with a default is added, which is always there for the program', closed({}), { ...closed({ b: { ...text, default: '' } }), required: ['b'] }],
    ['a member is added with one that it requires', closed({}), closed({ a: object({ b: text }, 'b') })],
    ['a member is no longer required', object({ a: text }, 'a'), object({ a: text })],
    ['a value is added', object({ a: list }), object({ a: longer })],
    ['a list is given up', { type: 'string', ...list }, text],
    ['a list says its type', list, { type: 'string', ...list }],
    ['a value is no longer forbidden', { ...text, not: { const: 'x' } }, text],
    ['another type is taken too', { ...number, maximum: 9 }, { anyOf: [{ ...number, maximum: 9 }, { ...closed({ ip: number }), minProperties: 1 }, { ...text, minLength: 1 }] }],
    ['a limit is loosened', { ...number, maximum: 5, minimum: 1 }, { ...number, maximum: 6 }],
    ['a pattern is dropped', { ...text, pattern: '^a$' }, text],
    ['a member is added that requires another', object({ b: text }), { ...object({ a: text, b: text }), dependencies: { a: ['b'] } }],
    ['there is another kind', kinds('full'), kinds('full', 'short')],
    ['there is another way to say it', oneOfThem('path'), oneOfThem('path', 'url')],
    ['what had to be absent may be there', object({ a: never }), object({ a: text })],
    ['and need not have a name', object({ a: never }), object({})],
  ]) // prettier-ignore
})

it.each<[string, Schema, string]>([
  ['a keyword with an unknown meaning', { contains: text }, ': contains cannot be compared yet'],
  ['a condition that is no list of values', { not: text }, ': not cannot be compared yet'],
  ['choices of the same type', { anyOf: [{ ...text, pattern: '^a' }, { ...text, format: 'url' }] }, 'cannot be compared; put them in definitions'],
  ['a reference to nothing', { $ref: '#/definitions/none' }, '#/definitions/none is not among the definitions'],
])('a schema is refused that has %s', (_, schema, message) => {
  expect(() => membersOf(schema)).toThrow(message)
}) // prettier-ignore
