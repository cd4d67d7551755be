// Matches alerts by their fields, for routing and silences: every listed field must have one of the values, prefixes or ranges.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Type, type Static } from '@sinclair/typebox'
import { ruleLevels } from '../../alerts/sigma/rule.js'
import { isObject, type AnyObject } from '../../base/json-object.js'
import { packageFolder } from '../../base/package-folder.js'
import { didYouMean } from '../../config/did-you-mean.js'
import { parseRange, readAddress, type AddressRange } from '../../domain/address.js'
import { createRangeSet } from '../../domain/range-set.js'
import { memberAt } from './template.js'

const text = Type.String({ minLength: 1, maxLength: 1_000 })
const range = Type.String({ format: 'cidr' })
const scalars = [text, Type.Number(), Type.Boolean()] as const
const listOf = { minItems: 1, maxItems: 1_000 }

const condition = Type.Union(
  [
    ...scalars,
    Type.Array(Type.Union([...scalars]), listOf),
    Type.Object(
      {
        prefix: Type.Optional(Type.Union([text, Type.Array(text, listOf)])),
        cidr: Type.Optional(Type.Union([range, Type.Array(range, listOf)])),
      },
      { additionalProperties: false, minProperties: 1, maxProperties: 1 },
    ),
  ],
  { form: 'a value, a list of values, { prefix: TEXT } or { cidr: RANGE }' },
)

export const matchSchema = Type.Record(Type.String({ maxLength: 200 }), condition, {
  description:
    'Fields of the alert, such as source.ip or threatweave.level, each with a value, a list of values, { prefix: TEXT } or { cidr: RANGE }. All of them must match; of a list one is enough.',
})

type Match = Static<typeof matchSchema>
export type Matches = (alert: AnyObject) => boolean

export const compileMatch = (match: Match): Matches => {
  const fields = Object.entries(match).map(([field, wanted]) => [field.split('.'), compileCondition(wanted)] as const)
  return (alert) =>
    fields.every(([names, accepts]) => {
      const value = memberAt(alert, names)
      return Array.isArray(value) ? value.some((each: unknown) => accepts(each)) : accepts(value)
    })
}

const compileCondition = (wanted: Match[string]): ((value: unknown) => boolean) => {
  if (typeof wanted !== 'object' || Array.isArray(wanted)) {
    const accepted = new Set([wanted].flat().map(String))
    return (value) => isScalar(value) && accepted.has(String(value))
  }
  if (wanted.prefix !== undefined) {
    const prefixes = [wanted.prefix].flat()
    return (value) => isScalar(value) && prefixes.some((prefix) => String(value).startsWith(prefix))
  }
  const ranges = createRangeSet(rangesIn(wanted.cidr ?? []))
  return (value) => {
    const address = typeof value === 'string' ? readAddress(value) : undefined
    return address !== undefined && ranges.has(address)
  }
}

const rangesIn = (cidr: string | readonly string[]): readonly AddressRange[] =>
  [cidr].flat().flatMap((one) => parseRange(one) ?? [])

const isScalar = (value: unknown): boolean =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'

/** One message per field that alerts do not have, with the closest known name. */
export const unknownFields = (match: Match): readonly { readonly field: string; readonly message: string }[] =>
  Object.keys(match)
    .filter((field) => !alertFields().has(field))
    .map((field) => ({ field, message: `is no field of an alert${didYouMean(field, alertFields())}` }))

/** Whether the matchers accept every alert, based on fields with known values. */
export const matchesEverything = (match: Match): boolean =>
  Object.entries(match).every(([field, wanted]) => {
    if (field === '@timestamp' || alike.has(field)) return true
    if (typeof wanted === 'object' && !Array.isArray(wanted)) {
      return [wanted.cidr ?? []].flat().some((one) => one.endsWith('/0'))
    }
    const values = new Set([wanted].flat().map(String))
    if (field === 'threatweave.level') return ruleLevels.every((level) => values.has(level))
    if (field === 'event.severity') return ruleLevels.every((_, at) => values.has(String(at + 1)))
    return false
  })

/** Fields with the same value in every alert. */
const alike: ReadonlySet<string> = new Set([
  'event.kind',
  'event.category',
  'event.type',
  'event.dataset',
  'rule.ruleset',
  'threatweave.schema_version',
])

let fields: ReadonlySet<string> | undefined

const alertFields = (): ReadonlySet<string> => (fields ??= new Set(leavesOf(readSchema())))

const readSchema = (): AnyObject =>
  JSON.parse(readFileSync(join(packageFolder, 'schemas/alert.schema.json'), 'utf8')) as AnyObject

/** Dotted paths of all leaf fields. An object without listed properties counts as a leaf. */
const leavesOf = (root: AnyObject): readonly string[] => {
  const walk = (schema: unknown, path: readonly string[]): readonly string[] => {
    const reference = memberAt(schema, ['$ref'])
    const found = typeof reference === 'string' ? memberAt(root, reference.split('/').slice(1)) : schema
    const members = memberAt(found, ['properties'])
    if (!isObject(members)) return [path.join('.')]
    return Object.entries(members).flatMap(([name, inner]) => walk(inner, [...path, name]))
  }
  return walk(root, [])
}
