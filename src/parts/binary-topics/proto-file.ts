// A .proto file as data: messages in order, with their fields, and the resolution of type names.
import { UnusableSchema } from './avro-schema.js'

export type ProtoFile = {
  readonly package: string
  readonly messages: readonly ProtoMessage[]
  readonly enums: readonly ProtoEnum[]
}

export type ProtoMessage = {
  readonly name: string
  readonly fields: ProtoField[]
  /** In the order that message indexes count. */
  readonly messages: ProtoMessage[]
  readonly enums: ProtoEnum[]
  readonly isMapEntry?: boolean
}

export type ProtoEnum = { readonly name: string; readonly values: ReadonlyMap<number, string> }

export type ProtoField = {
  readonly name: string
  readonly number: number
  readonly isRepeated: boolean
  /** A scalar type, or `group`, or empty for the name of a message or an enum. */
  readonly scalar: string
  readonly typeName: string
  /** Key and value types, if declared as a map. */
  readonly map?: { readonly key: string; readonly scalar: string; readonly typeName: string }
}

export const scalars: ReadonlySet<string> = new Set([
  'double',
  'float',
  'int32',
  'int64',
  'uint32',
  'uint64',
  'sint32',
  'sint64',
  'fixed32',
  'fixed64',
  'sfixed32',
  'sfixed64',
  'bool',
  'string',
  'bytes',
])

/** A message with resolved references. */
export type MessageType = {
  /** Includes the package. */
  readonly name: string
  readonly fields: ReadonlyMap<number, FieldType>
}

export type FieldType = {
  readonly name: string
  /** The name as a JSON member begins. */
  readonly key: string
  readonly isRepeated: boolean
  readonly isMap: boolean
  readonly isGroup: boolean
  readonly scalar: string
  readonly message?: MessageType | undefined
  readonly enum?: ProtoEnum | undefined
}

const maxTypes = 20_000

/** Finds a message by its indexes in the first file; the other files are its imports. Throws UnusableSchema. */
export const linkMessages = (
  file: ProtoFile,
  imported: readonly ProtoFile[],
): ((indexes: readonly number[]) => MessageType | undefined) => {
  type Declared = {
    readonly message: ProtoMessage
    readonly type: MessageType
    readonly fields: Map<number, FieldType>
  }
  const messages = new Map<string, Declared>()
  const enums = new Map<string, ProtoEnum>()
  const typeOf = new Map<ProtoMessage, MessageType>()
  const add = (scope: string, each: ProtoMessage): void => {
    const name = scope === '' ? each.name : `${scope}.${each.name}`
    const fields = new Map<number, FieldType>()
    const type = { name, fields }
    messages.set(name, { message: each, type, fields })
    typeOf.set(each, type)
    if (messages.size + enums.size > maxTypes) throw new UnusableSchema(`has more than ${maxTypes} types`)
    for (const one of each.enums) enums.set(`${name}.${one.name}`, one)
    for (const one of each.messages) add(name, one)
  }
  for (const each of [...imported, file]) {
    for (const one of each.enums) enums.set(each.package === '' ? one.name : `${each.package}.${one.name}`, one)
    for (const one of each.messages) add(each.package, one)
  }
  const find = (name: string, scope: string): { message?: Declared; enum?: ProtoEnum } => {
    const at = (full: string): { message?: Declared; enum?: ProtoEnum } | undefined => {
      const message = messages.get(full)
      if (message) return { message }
      const found = enums.get(full)
      return found && { enum: found }
    }
    if (name.startsWith('.')) {
      const found = at(name.slice(1))
      if (found) return found
    } else
      for (let outer = scope; ; outer = outer.includes('.') ? outer.slice(0, outer.lastIndexOf('.')) : '') {
        const found = at(outer === '' ? name : `${outer}.${name}`)
        if (found) return found
        if (outer === '') break
      }
    throw new UnusableSchema(`uses the type ${JSON.stringify(name.slice(0, 80))}, which is not defined`)
  }
  const link = (field: ProtoField, scope: string): FieldType => {
    const { name, isRepeated, scalar, typeName, map } = field
    const base = { name, key: `${JSON.stringify(name)}:`, isRepeated, isGroup: scalar === 'group' }
    if (map) {
      const value = map.scalar === '' ? find(map.typeName, scope) : {}
      const entry = new Map<number, FieldType>([
        [1, plain('key', map.key)],
        [2, { ...plain('value', map.scalar), message: value.message?.type, enum: value.enum }],
      ])
      return { ...base, isRepeated: true, isMap: true, scalar: '', message: { name: '', fields: entry } }
    }
    if (scalar !== '' && scalar !== 'group') return { ...base, isMap: false, scalar }
    const found = find(typeName, scope)
    const isMap = found.message?.message.isMapEntry === true
    return { ...base, isMap, scalar: '', message: found.message?.type, enum: found.enum }
  }

  for (const { message, type, fields } of messages.values())
    for (const field of message.fields) fields.set(field.number, link(field, type.name))
  return (indexes) => {
    let among: readonly ProtoMessage[] = file.messages
    let found: ProtoMessage | undefined
    for (const index of indexes) {
      found = among[index]
      if (!found) return undefined
      among = found.messages
    }
    return found && typeOf.get(found)
  }
}

const plain = (name: string, scalar: string): FieldType => ({
  name,
  key: `${JSON.stringify(name)}:`,
  isRepeated: false,
  isMap: false,
  isGroup: false,
  scalar,
})
