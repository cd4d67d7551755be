// Converts a Protobuf message to JSON with the names of the .proto file. A repeated singular field appears twice.
import type { FieldType, MessageType } from './proto-file.js'
import {
  createReading,
  readVarint,
  spend,
  step,
  take,
  Undecodable,
  unzigzag,
  writeBytes,
  writeDouble,
  writeTime,
  type Reading,
} from './reading.js'

/** Throws Undecodable. */
export const readProtobuf = (bytes: Buffer, from: number, type: MessageType): Buffer => {
  const reading = createReading(bytes, from)
  const known = readMessage(reading, type, 0, 0)
  // A message of another type parses without an error, as unknown fields.
  if (known === 0 && from < bytes.length) throw new Undecodable('has no field of its schema')
  return Buffer.from(reading.out)
}

/** Kinds of fields on the wire. */
const wire = { varint: 0, eight: 1, length: 2, start: 3, end: 4, four: 5 } as const

/** Returns the number of known fields. Stops at the end of the bytes, or of the group with that number. */
const readMessage = (reading: Reading, type: MessageType, depth: number, group: number): number => {
  step(reading, depth)
  const special = specials[type.name]
  const outside = reading.out
  let known = 0
  const members: string[] = []
  /** Items of lists and maps, which may be spread over the message. */
  const lists = new Map<FieldType, string[]>()
  const put = (field: FieldType, value: string): void => {
    known++
    spend(reading, field.key.length + (field.message ? 1 : value.length))
    if (!field.isRepeated) {
      members.push(field.key + value)
      return
    }
    const list = lists.get(field)
    if (list) list.push(value)
    else lists.set(field, [value])
  }
  const raw: Raw = { seconds: 0n, nanos: 0 }
  for (;;) {
    if (reading.at >= reading.end) {
      if (group !== 0) throw new Undecodable('ends before it is complete')
      break
    }
    step(reading, depth)
    const tag = Number(readVarint(reading))
    const kind = tag % 8
    const number = Math.floor(tag / 8)
    if (number < 1 || number > 536_870_911) throw new Undecodable('has an invalid field number')
    if (kind === wire.end) {
      if (number !== group) throw new Undecodable('ends a group that was not started')
      break
    }
    const field = type.fields.get(number)
    if (!field) skip(reading, kind, number, depth)
    else readField(reading, field, kind, number, depth, put, special ? raw : undefined)
  }
  reading.out = outside + (special ? special(members, lists, raw) : objectOf(members, lists))
  return known
}

type Put = (field: FieldType, value: string) => void
/** The raw numbers of a timestamp or duration. */
type Raw = { seconds: bigint; nanos: number }

const objectOf = (members: readonly string[], lists: ReadonlyMap<FieldType, readonly string[]>): string => {
  let text = ''
  for (const member of members) text += text === '' ? member : `,${member}`
  for (const [{ key, isMap }, items] of lists)
    text += `${text === '' ? '' : ','}${key}${isMap ? `{${listed(items)}}` : `[${listed(items)}]`}`
  return `{${text}}`
}

/** Concatenates instead of `join`, which copies: deeply nested text would be copied once per level. */
const listed = (items: readonly string[]): string => {
  let text = ''
  for (const item of items) text += text === '' ? item : `,${item}`
  return text
}

const readField = (
  reading: Reading,
  field: FieldType,
  kind: number,
  number: number,
  depth: number,
  put: Put,
  raw: Raw | undefined,
): void => {
  const { scalar, message, isMap, isRepeated } = field
  if (message) {
    if (kind === wire.start) {
      put(field, inside(reading, message, depth, number))
      return
    }
    if (kind !== wire.length) {
      skip(reading, kind, number, depth)
      return
    }
    const length = Number(readVarint(reading))
    const from = take(reading, length)
    const { end } = reading
    reading.at = from
    reading.end = from + length
    put(field, isMap ? entryOf(reading, message, depth) : inside(reading, message, depth, 0))
    reading.at = from + length
    reading.end = end
    return
  }
  const own = kindOf(scalar)
  if (kind === own) {
    const value = readScalar(reading, field, raw)
    put(field, value)
  } else if (kind === wire.length && isRepeated && own !== wire.length) {
    // A packed list of numbers.
    const length = Number(readVarint(reading))
    const from = take(reading, length)
    const { end } = reading
    reading.at = from
    reading.end = from + length
    while (reading.at < reading.end) {
      step(reading, depth)
      put(field, readScalar(reading, field, undefined))
    }
    reading.end = end
  } else skip(reading, kind, number, depth)
}

/** Returns the JSON of a nested message. */
const inside = (reading: Reading, type: MessageType, depth: number, group: number): string => {
  const { out } = reading
  reading.out = ''
  readMessage(reading, type, depth + 1, group)
  const written = reading.out
  reading.out = out
  return written
}

/** `"key":value` of a map entry; either may be missing. */
const entryOf = (reading: Reading, { fields }: MessageType, depth: number): string => {
  let key = '""'
  let value = 'null'
  while (reading.at < reading.end) {
    step(reading, depth)
    const tag = Number(readVarint(reading))
    const number = Math.floor(tag / 8)
    const field = fields.get(number)
    const keep: Put = (_, text) => {
      if (number === 1) key = text.startsWith('"') ? text : `"${text}"`
      else value = text
    }
    if (field) readField(reading, field, tag % 8, number, depth + 1, keep, undefined)
    else skip(reading, tag % 8, number, depth)
  }
  return `${key}:${value}`
}

const kindOf = (scalar: string): number => {
  switch (scalar) {
    case 'string':
    case 'bytes':
      return wire.length
    case 'double':
    case 'fixed64':
    case 'sfixed64':
      return wire.eight
    case 'float':
    case 'fixed32':
    case 'sfixed32':
      return wire.four
    default:
      return wire.varint
  }
}

const readScalar = (reading: Reading, field: FieldType, raw: Raw | undefined): string => {
  const { bytes } = reading
  switch (field.scalar) {
    case 'string': {
      const length = Number(readVarint(reading))
      const from = take(reading, length)
      return JSON.stringify(bytes.toString('utf8', from, from + length))
    }
    case 'bytes': {
      const length = Number(readVarint(reading))
      const from = take(reading, length)
      return writeBytes(bytes.subarray(from, from + length), field.name)
    }
    case 'double':
      return writeDouble(bytes.readDoubleLE(take(reading, 8)))
    case 'float':
      return writeDouble(bytes.readFloatLE(take(reading, 4)))
    case 'fixed64':
      return String(bytes.readBigUInt64LE(take(reading, 8)))
    case 'sfixed64':
      return String(bytes.readBigInt64LE(take(reading, 8)))
    case 'fixed32':
      return String(bytes.readUInt32LE(take(reading, 4)))
    case 'sfixed32':
      return String(bytes.readInt32LE(take(reading, 4)))
  }
  const value = readVarint(reading)
  switch (field.scalar) {
    case 'bool':
      return Number(value) === 0 ? 'false' : 'true'
    case 'sint32':
    case 'sint64':
      return String(unzigzag(value))
    case 'uint64':
      return String(value)
    case 'uint32':
      return String(BigInt.asUintN(32, BigInt(value)))
    case 'int64': {
      const signed = BigInt.asIntN(64, BigInt(value))
      if (raw) raw.seconds = signed
      return String(signed)
    }
    default: {
      const signed = Number(BigInt.asIntN(32, BigInt(value)))
      if (raw && field.scalar === 'int32') raw.nanos = signed
      const label = field.enum?.values.get(signed)
      return label === undefined ? String(signed) : JSON.stringify(label)
    }
  }
}

/** Skips an unknown field. */
const skip = (reading: Reading, kind: number, number: number, depth: number): void => {
  step(reading, depth)
  if (kind === wire.varint) readVarint(reading)
  else if (kind === wire.eight) take(reading, 8)
  else if (kind === wire.four) take(reading, 4)
  else if (kind === wire.length) take(reading, Number(readVarint(reading)))
  else if (kind === wire.start)
    for (;;) {
      const tag = Number(readVarint(reading))
      if (tag % 8 === wire.end) {
        if (Math.floor(tag / 8) !== number) throw new Undecodable('ends a group that was not started')
        return
      }
      skip(reading, tag % 8, Math.floor(tag / 8), depth + 1)
    }
  else throw new Undecodable('has a field of an unknown wire type')
}

type Special = (members: readonly string[], lists: ReadonlyMap<FieldType, readonly string[]>, raw: Raw) => string

/** The value of the last member, without its name. */
const onlyValue =
  (missing: string): Special =>
  (members) => {
    const last = members.at(-1)
    return last === undefined ? missing : last.slice(last.indexOf(':') + 1)
  }

const fraction = (nanos: number): string => (nanos === 0 ? '' : `.${String(nanos).padStart(9, '0').replace(/0+$/, '')}`)

/** Well-known types with a special form in the JSON mapping of Protobuf. */
const specials: Readonly<Record<string, Special>> = {
  'google.protobuf.Timestamp': (_, __, { seconds, nanos }) => {
    const ms = Number(seconds) * 1000
    const valid = nanos >= 0 && nanos < 1e9 ? nanos : 0
    return writeTime(ms + Math.floor(valid / 1e6), valid % 1e6 === 0 ? '' : String(valid % 1e6).padStart(6, '0'))
  },
  'google.protobuf.Duration': (_, __, { seconds, nanos }) =>
    `"${seconds === 0n && nanos < 0 ? '-' : ''}${seconds}${fraction(Math.min(Math.abs(nanos), 999_999_999))}s"`,
  'google.protobuf.DoubleValue': onlyValue('0'),
  'google.protobuf.FloatValue': onlyValue('0'),
  'google.protobuf.Int64Value': onlyValue('0'),
  'google.protobuf.UInt64Value': onlyValue('0'),
  'google.protobuf.Int32Value': onlyValue('0'),
  'google.protobuf.UInt32Value': onlyValue('0'),
  'google.protobuf.BoolValue': onlyValue('false'),
  'google.protobuf.StringValue': onlyValue('""'),
  'google.protobuf.BytesValue': onlyValue('""'),
  'google.protobuf.Value': (members, lists, raw) =>
    members.at(-1)?.startsWith('"null_value"') === true ? 'null' : onlyValue('null')(members, lists, raw),
  'google.protobuf.Struct': (_, lists) => `{${listed([...lists.values()].flat())}}`,
  'google.protobuf.ListValue': (_, lists) => `[${listed([...lists.values()].flat())}]`,
}
