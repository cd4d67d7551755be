// Lays a JSON Schema out as a flat list: every member by its path, with what may be in it. Titles and descriptions do not count.
import { isObject } from '../../../src/base/json-object.js'

export type Member = {
  /** The path of what it is part of: it matters only where that is there. */
  readonly owner: string | undefined
  /** It is no member itself, but says what holds for others under a condition. */
  readonly isCondition: boolean
  /** JSON types; none given: any. An empty list: the member must be absent. */
  types: readonly string[] | undefined
  /** The only values it may have, as JSON. */
  values: readonly string[] | undefined
  /** Values it may not have, as JSON. */
  readonly forbidden: Set<string>
  required: boolean
  default: string | undefined
  /** Keywords with a number: minimum, maxLength. */
  readonly limits: Map<string, number>
  /** Keywords with a text: pattern, format. */
  readonly forms: Map<string, string>
  /** An object with no other members than those that have a name. */
  isClosed: boolean
  /** The schema says that values may be added to the list. */
  mayGrow: boolean
}

export type Members = ReadonlyMap<string, Member>
type Schema = Readonly<Record<string, unknown>>

const growing = 'The list may grow.'
const limitNames = new Set([
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'minLength', 'maxLength'],
  ...['minItems', 'maxItems', 'minProperties', 'maxProperties'],
])
/** They describe, or were looked at elsewhere. */
const withoutMeaning = new Set(['$schema', 'title', 'definitions', 'deprecated', 'then', 'else', 'secret', 'form', 'derived'])

/** `a/b` is a member of a member, `a/[]` an element of a list, `a/*` a member of any name, `a (if …)` what holds under a condition. */
export const membersOf = (root: Schema): Members => {
  const members = new Map<string, Member>()

  const memberAt = (path: string, owner?: string, isCondition = false): Member => {
    const known = members.get(path)
    if (known) return known
    const member: Member = {
      owner,
      isCondition,
      types: undefined,
      values: undefined,
      forbidden: new Set(),
      required: false,
      default: undefined,
      limits: new Map(),
      forms: new Map(),
      isClosed: false,
      mayGrow: false,
    }
    members.set(path, member)
    return member
  }

  /** The path of something inside, which is known from then on. */
  const inside = (path: string, name: string): string => {
    const inner = path === '' ? name : `${path}/${name}`
    memberAt(inner, path, memberAt(path).isCondition)
    return inner
  }

  const under = (path: string, condition: string, owner = path): string => {
    const inner = `${path} (${condition})`.trimStart()
    memberAt(inner, owner, true)
    return inner
  }

  const resolve = (reference: string): Schema => {
    const [, name] = /^#\/definitions\/(\w+)$/.exec(reference) ?? []
    const found = isObject(root.definitions) && name !== undefined ? root.definitions[name] : undefined
    if (!isObject(found)) throw new Error(`${reference} is not among the definitions`)
    return found
  }

  const narrow = (member: Member, values: readonly string[]): void => {
    member.values = member.values?.filter((value) => values.includes(value)) ?? values
  }

  /** The values of a schema that only lists values. */
  const listed = (schema: Schema): readonly string[] | undefined => {
    const whole = typeof schema.$ref === 'string' ? resolve(schema.$ref) : schema
    if ('const' in whole) return [JSON.stringify(whole.const)]
    return Array.isArray(whole.enum) ? whole.enum.map((value) => JSON.stringify(value)) : undefined
  }

  const visitChoices = (choices: readonly Schema[], path: string): void => {
    const values = choices.map(listed)
    if (values.every((list) => list !== undefined)) {
      narrow(memberAt(path), values.flat())
      return
    }
    if (choices.every((choice) => Object.keys(choice).join() === 'required')) {
      const choosable = choices.map(({ required }) => JSON.stringify(required))
      narrow(memberAt(under(path, 'one of')), choosable)
      return
    }
    if (choices.every(({ $ref }) => typeof $ref === 'string')) {
      const names = choices.map(({ $ref }) => String($ref).replace('#/definitions/', ''))
      const choosable = names.map((name) => JSON.stringify(name))
      narrow(memberAt(under(path, 'one of')), choosable)
      for (const [index, choice] of choices.entries()) visit(choice, inside(path, `(${names[index]})`))
      return
    }
    // Keywords of a schema count for one type each, so choices of different types can be laid out in one place.
    const types = choices.flatMap(({ type }) => type)
    if (types.includes(undefined) || new Set(types).size < types.length)
      throw new Error(
        `${path}: choices that have the same type and no name cannot be compared; put them in definitions`,
      )
    for (const choice of choices) visit(choice, path)
    memberAt(path).types = types as string[]
  }

  const visitCondition = (schema: Schema, path: string): void => {
    const condition = JSON.stringify(schema.if)
    if (schema.then !== undefined) visit(schema.then as Schema, under(path, `if ${condition}`))
    if (schema.else !== undefined) visit(schema.else as Schema, under(path, `if not ${condition}`))
  }

  const visitKeyword = (name: string, value: unknown, schema: Schema, path: string): void => {
    const member = memberAt(path)
    const visitEach = (schemas: unknown, prefix: string): void => {
      for (const [inner, one] of Object.entries(schemas as Record<string, Schema>))
        visit(one, inside(path, prefix + inner))
    }
    if (limitNames.has(name)) member.limits.set(name, value as number)
    else if (name === 'uniqueItems') member.limits.set(name, Number(value))
    else if (name === 'pattern' || name === 'format') member.forms.set(name, value as string)
    else if (name === 'type') member.types = [value].flat() as string[]
    else if (name === 'const' || name === 'enum') narrow(member, listed({ [name]: value }) ?? [])
    else if (name === 'default') member.default = JSON.stringify(value)
    else if (name === 'description') member.mayGrow ||= (value as string).includes(growing)
    else if (name === 'required') for (const inner of value as string[]) memberAt(inside(path, inner)).required = true
    else if (name === 'properties') visitEach(value, '')
    else if (name === 'patternProperties') visitEach(value, '*')
    else if (name === 'propertyNames') visit(value as Schema, inside(path, '(names)'))
    else if (name === 'items') visit(value as Schema, inside(path, '[]'))
    else if (name === 'additionalProperties' && isObject(value)) visit(value, inside(path, '*'))
    else if (name === 'additionalProperties') member.isClosed = value === false
    else if (name === 'dependencies')
      for (const [inner, required] of Object.entries(value as Record<string, string[]>))
        visit({ required }, under(path, `if ${inner}`, inside(path, inner)))
    else if (name === 'allOf') for (const one of value as Schema[]) visit(one, path)
    else if (name === 'anyOf' || name === 'oneOf') visitChoices(value as Schema[], path)
    else if (name === 'if') visitCondition(schema, path)
    else if (name === 'not' && listed(value as Schema))
      for (const one of listed(value as Schema)!) member.forbidden.add(one)
    else if (name === '$ref' && value === '#') narrow(memberAt(inside(path, '(like)')), ['"#"'])
    else if (name === '$ref') visit(resolve(value as string), path)
    else if (!withoutMeaning.has(name)) throw new Error(`${path}: ${name} cannot be compared yet`)
  }

  const visit = (schema: Schema | boolean, path: string): void => {
    const member = memberAt(path)
    if (schema === false) member.types = []
    else if (schema !== true)
      for (const [name, value] of Object.entries(schema)) visitKeyword(name, value, schema, path)
  }

  visit(root, '')
  return members
}
