// Reads the serialized form of a .proto file (FileDescriptorProto), which several clients register in base64.
import { UnusableSchema } from './avro-schema.js'
import type { ProtoEnum, ProtoField, ProtoFile, ProtoMessage } from './proto-file.js'
import { createReading, readVarint, step, take, Undecodable } from './reading.js'

/** The numbers of `FieldDescriptorProto.Type`, from 1 on. */
const types = [
  '',
  'double',
  'float',
  'int64',
  'uint64',
  'int32',
  'fixed64',
  'fixed32',
  'bool',
  'string',
  'group',
  'message',
  'bytes',
  'uint32',
  'enum',
  'sfixed32',
  'sfixed64',
  'sint32',
  'sint64',
]

/** Throws UnusableSchema. */
export const parseDescriptor = (bytes: Buffer): ProtoFile => {
  try {
    return fileOf(bytes)
  } catch (error) {
    if (error instanceof Undecodable) throw new UnusableSchema(`is no descriptor: it ${error.message}`)
    throw error
  }
}

type Visit = (number: number, content: Buffer, value: number) => void

/** Calls back for every field with its content or number. */
const visit = (bytes: Buffer, see: Visit): void => {
  const reading = createReading(bytes, 0)
  while (reading.at < reading.end) {
    step(reading, 0)
    const tag = Number(readVarint(reading))
    const kind = tag % 8
    const field = Math.floor(tag / 8)
    if (kind === 0) see(field, none, Number(BigInt.asIntN(64, BigInt(readVarint(reading)))))
    else if (kind === 1) take(reading, 8)
    else if (kind === 5) take(reading, 4)
    else if (kind === 2) {
      const length = Number(readVarint(reading))
      const from = take(reading, length)
      see(field, bytes.subarray(from, from + length), 0)
    } else throw new Undecodable('has a field of an unknown wire type')
  }
}

const none = Buffer.alloc(0)

const fileOf = (bytes: Buffer): ProtoFile => {
  let name = ''
  const messages: ProtoMessage[] = []
  const enums: ProtoEnum[] = []
  visit(bytes, (field, content) => {
    if (field === 2) name = content.toString()
    else if (field === 4) messages.push(messageOf(content, 0))
    else if (field === 5) enums.push(enumOf(content))
  })
  return { package: name, messages, enums }
}

const maxNesting = 32

const messageOf = (bytes: Buffer, depth: number): ProtoMessage => {
  if (depth > maxNesting) throw new Undecodable('is nested too deep')
  let name = ''
  let isMapEntry = false
  const fields: ProtoField[] = []
  const messages: ProtoMessage[] = []
  const enums: ProtoEnum[] = []
  visit(bytes, (field, content) => {
    if (field === 1) name = content.toString()
    else if (field === 2) fields.push(fieldOf(content))
    else if (field === 3) messages.push(messageOf(content, depth + 1))
    else if (field === 4) enums.push(enumOf(content))
    else if (field === 7)
      visit(content, (option, _, value) => {
        if (option === 7) isMapEntry = value !== 0
      })
  })
  return { name, fields, messages, enums, isMapEntry }
}

const fieldOf = (bytes: Buffer): ProtoField => {
  let name = ''
  let number = 0
  let isRepeated = false
  let type = ''
  let typeName = ''
  visit(bytes, (field, content, value) => {
    if (field === 1) name = content.toString()
    else if (field === 3) number = value
    else if (field === 4) isRepeated = value === 3
    else if (field === 5) type = types[value] ?? ''
    else if (field === 6) typeName = content.toString()
  })
  return { name, number, isRepeated, scalar: type === 'message' || type === 'enum' ? '' : type, typeName }
}

const enumOf = (bytes: Buffer): ProtoEnum => {
  let name = ''
  const values = new Map<number, string>()
  visit(bytes, (field, content) => {
    if (field === 1) name = content.toString()
    if (field !== 2) return
    let label = ''
    let number = 0
    visit(content, (part, text, value) => {
      if (part === 1) label = text.toString()
      else if (part === 2) number = value
    })
    if (!values.has(number)) values.set(number, label)
  })
  return { name, values }
}
