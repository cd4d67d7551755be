// Compiles a registered Avro schema into types for reading values, without generating code.
import { isObject, type AnyObject } from '../../base/json-object.js'

export type AvroType =
  | { readonly kind: 'null' | 'boolean' | 'float' | 'double' | 'string' }
  | { readonly kind: 'int' | 'long'; readonly logical: string }
  | { readonly kind: 'bytes'; readonly logical: string; readonly scale: number }
  | { readonly kind: 'fixed'; readonly logical: string; readonly scale: number; readonly size: number }
  | { readonly kind: 'enum'; readonly symbols: readonly string[] }
  | { readonly kind: 'array' | 'map'; readonly items: AvroType }
  | { readonly kind: 'union'; readonly branches: readonly AvroType[] }
  | { readonly kind: 'record'; readonly fields: AvroField[] }

/** `key` is the name as the start of a JSON member. */
type AvroField = { readonly name: string; readonly key: string; readonly type: AvroType }

/** A schema cannot be used; the message has the reason. */
export class UnusableSchema extends Error {}

const maxTypes = 50_000
const maxNesting = 100
const maxFixed = 1_048_576

/** `others` are its references, in the order of their dependencies. Throws UnusableSchema. */
export const compileAvro = (schema: string, others: readonly string[]): AvroType => {
  const named = new Map<string, AvroType>()
  let left = maxTypes

  const compile = (node: unknown, namespace: string, depth: number): AvroType => {
    if (--left < 0) throw new UnusableSchema(`has more than ${maxTypes} types`)
    if (depth > maxNesting) throw new UnusableSchema(`is nested deeper than ${maxNesting}`)
    if (typeof node === 'string') return primitive(node, {}) ?? referred(node, namespace)
    if (Array.isArray(node))
      return { kind: 'union', branches: node.map((branch) => compile(branch, namespace, depth + 1)) }
    if (!isObject(node)) throw new UnusableSchema('has a type that is neither a name nor an object nor a list')
    const { type } = node
    if (typeof type !== 'string') return compile(type, namespace, depth + 1)
    if (type === 'array' || type === 'map')
      return { kind: type, items: compile(type === 'array' ? node.items : node.values, namespace, depth + 1) }
    if (type === 'record' || type === 'error' || type === 'enum' || type === 'fixed')
      return define(type, node, namespace, depth)
    return primitive(type, node) ?? referred(type, namespace)
  }

  const referred = (name: string, namespace: string): AvroType => {
    const found = (name.includes('.') ? undefined : named.get(fullName(name, namespace))) ?? named.get(name)
    if (!found) throw new UnusableSchema(`uses the type ${shown(name)}, which is not defined`)
    return found
  }

  const define = (
    type: 'record' | 'error' | 'enum' | 'fixed',
    node: AnyObject,
    outer: string,
    depth: number,
  ): AvroType => {
    if (typeof node.name !== 'string' || node.name === '') throw new UnusableSchema(`has a type ${type} without a name`)
    const own = typeof node.namespace === 'string' ? node.namespace : outer
    const full = fullName(node.name, own)
    const namespace = full.includes('.') ? full.slice(0, full.lastIndexOf('.')) : ''
    if (type === 'enum') return keep(full, { kind: 'enum', symbols: textsIn(node.symbols) })
    if (type === 'fixed') {
      const { size } = node
      if (typeof size !== 'number' || !Number.isInteger(size) || size < 0 || size > maxFixed)
        throw new UnusableSchema(`has the type ${shown(full)} without a usable size`)
      return keep(full, { kind: 'fixed', size, ...logicalOf(node) })
    }
    const fields: AvroField[] = []
    const record = keep(full, { kind: 'record', fields })
    if (!Array.isArray(node.fields)) throw new UnusableSchema(`has the record ${shown(full)} without fields`)
    for (const field of node.fields as readonly unknown[]) {
      if (!isObject(field) || typeof field.name !== 'string')
        throw new UnusableSchema(`has a field without a name in ${shown(full)}`)
      const { name } = field
      fields.push({ name, key: `${JSON.stringify(name)}:`, type: compile(field.type, namespace, depth + 1) })
    }
    return record
  }

  const keep = (name: string, type: AvroType): AvroType => {
    named.set(name, type)
    return type
  }

  for (const other of others) compile(parse(other), '', 0)
  return compile(parse(schema), '', 0)
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    // Some registries store a primitive type without quotation marks.
    if (/^[a-z]{3,7}$/.test(text)) return text
    throw new UnusableSchema('is not JSON')
  }
}

const fullName = (name: string, namespace: string): string =>
  name.includes('.') || namespace === '' ? name : `${namespace}.${name}`

const shown = (name: string): string => JSON.stringify(name.slice(0, 80))

const textsIn = (list: unknown): readonly string[] =>
  Array.isArray(list) ? list.map((one) => (typeof one === 'string' ? one : '')) : []

const logicalOf = ({ logicalType, scale }: AnyObject): { readonly logical: string; readonly scale: number } => ({
  logical: typeof logicalType === 'string' ? logicalType : '',
  scale: typeof scale === 'number' && Number.isInteger(scale) && scale >= 0 && scale <= 1_000 ? scale : 0,
})

const primitive = (name: string, node: AnyObject): AvroType | undefined => {
  switch (name) {
    case 'null':
    case 'boolean':
    case 'float':
    case 'double':
    case 'string':
      return { kind: name }
    case 'int':
    case 'long':
      return { kind: name, logical: logicalOf(node).logical }
    case 'bytes':
      return { kind: 'bytes', ...logicalOf(node) }
    default:
      return undefined
  }
}
