// Converts an Avro value to JSON by its schema; unions become their value, logical types become readable.
import type { AvroType } from './avro-schema.js'
import {
  createReading,
  readVarint,
  step,
  take,
  Undecodable,
  unzigzag,
  writeBytes,
  writeDouble,
  writeTime,
} from './reading.js'
import type { Reading } from './reading.js'

/** Throws Undecodable. */
export const readAvro = (bytes: Buffer, from: number, type: AvroType): Buffer => {
  // Java clients write a top-level `bytes` value without its length; its text is returned as a log line.
  if (type.kind === 'bytes') return bytes.subarray(from)
  const reading = createReading(bytes, from)
  if (type.kind === 'string') {
    const length = readLength(reading)
    const start = take(reading, length)
    endOf(reading)
    return bytes.subarray(start, start + length)
  }
  read(reading, type, '', 0)
  endOf(reading)
  return Buffer.from(reading.out)
}

const endOf = ({ at, end }: Reading): void => {
  if (at !== end) throw new Undecodable('has bytes after its end')
}

const readLength = (reading: Reading): number => Number(unzigzag(readVarint(reading)))

/** `name` is the name of the enclosing field. */
const read = (reading: Reading, type: AvroType, name: string, depth: number): void => {
  step(reading, depth)
  switch (type.kind) {
    case 'null':
      reading.out += 'null'
      return
    case 'boolean':
      reading.out += reading.bytes[take(reading, 1)] === 0 ? 'false' : 'true'
      return
    case 'int':
    case 'long':
      reading.out += writeInteger(unzigzag(readVarint(reading)), type.logical)
      return
    case 'float':
      reading.out += writeDouble(Math.fround(reading.bytes.readFloatLE(take(reading, 4))))
      return
    case 'double':
      reading.out += writeDouble(reading.bytes.readDoubleLE(take(reading, 8)))
      return
    case 'string': {
      const length = readLength(reading)
      const from = take(reading, length)
      reading.out += JSON.stringify(reading.bytes.toString('utf8', from, from + length))
      return
    }
    case 'bytes':
    case 'fixed': {
      const length = type.kind === 'fixed' ? type.size : readLength(reading)
      const from = take(reading, length)
      reading.out += writeLogical(reading.bytes.subarray(from, from + length), type.logical, type.scale, name)
      return
    }
    case 'enum': {
      const symbol = type.symbols[readLength(reading)]
      if (symbol === undefined) throw new Undecodable('has a symbol that is not in its schema')
      reading.out += JSON.stringify(symbol)
      return
    }
    case 'union': {
      const branch = type.branches[readLength(reading)]
      if (!branch) throw new Undecodable('has a branch that is not in its schema')
      read(reading, branch, name, depth + 1)
      return
    }
    case 'array':
      reading.out += '['
      readBlocks(reading, () => read(reading, type.items, name, depth + 1))
      reading.out += ']'
      return
    case 'map':
      reading.out += '{'
      readBlocks(reading, () => {
        const length = readLength(reading)
        const from = take(reading, length)
        const key = reading.bytes.toString('utf8', from, from + length)
        reading.out += `${JSON.stringify(key)}:`
        read(reading, type.items, key, depth + 1)
      })
      reading.out += '}'
      return
    case 'record': {
      reading.out += '{'
      let isFirst = true
      for (const { name: own, key, type: inner } of type.fields) {
        reading.out += isFirst ? key : `,${key}`
        isFirst = false
        read(reading, inner, own, depth + 1)
      }
      reading.out += '}'
    }
  }
}

/** Items come in blocks with a count; after a negative count follows the size of the block in bytes. */
const readBlocks = (reading: Reading, readItem: () => void): void => {
  let isFirst = true
  for (;;) {
    const count = readLength(reading)
    if (count === 0) return
    if (count < 0) readVarint(reading)
    for (let nth = Math.abs(count); nth > 0; nth--) {
      if (!isFirst) reading.out += ','
      isFirst = false
      readItem()
    }
    step(reading, 0)
  }
}

const dayMs = 86_400_000

const writeInteger = (value: bigint | number, logical: string): string => {
  const number = Number(value)
  switch (logical) {
    case 'date':
      return Math.abs(number) <= 1e8 ? `"${new Date(number * dayMs).toISOString().slice(0, -14)}"` : String(value)
    case 'time-millis':
      return number >= 0 && number < dayMs ? timeOfDay(number) : String(value)
    case 'time-micros':
      return number >= 0 && number < dayMs * 1000
        ? timeOfDay(Math.floor(number / 1000), digits(number % 1000))
        : String(value)
    case 'timestamp-millis':
      return writeTime(number)
    case 'local-timestamp-millis':
      return writeTime(number, '', '')
    case 'timestamp-micros':
    case 'local-timestamp-micros':
      return writeFraction(BigInt(value), 1_000n, logical)
    case 'timestamp-nanos':
    case 'local-timestamp-nanos':
      return writeFraction(BigInt(value), 1_000_000n, logical)
    default:
      return String(value)
  }
}

const digits = (value: number): string => String(value).padStart(3, '0')

const timeOfDay = (ms: number, more = ''): string => `"${new Date(ms).toISOString().slice(11, -1)}${more}"`

/** Writes a time in units of 1/`perMs` milliseconds. */
const writeFraction = (value: bigint, perMs: bigint, logical: string): string => {
  const rest = ((value % perMs) + perMs) % perMs
  const more = String(rest).padStart(perMs === 1_000n ? 3 : 6, '0')
  return writeTime(Number((value - rest) / perMs), more, logical.startsWith('local') ? '' : 'Z')
}

const writeLogical = (bytes: Buffer, logical: string, scale: number, name: string): string => {
  if (logical === 'decimal' && bytes.length > 0 && bytes.length <= 64) return writeDecimal(bytes, scale)
  if (logical === 'uuid' && bytes.length === 16)
    return `"${bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')}"`
  if (logical === 'duration' && bytes.length === 12)
    return `"P${bytes.readUInt32LE(0)}M${bytes.readUInt32LE(4)}DT${bytes.readUInt32LE(8) / 1000}S"`
  return writeBytes(bytes, name)
}

/** Writes a big-endian two’s complement number with `scale` decimal places. */
const writeDecimal = (bytes: Buffer, scale: number): string => {
  const value = BigInt.asIntN(bytes.length * 8, BigInt(`0x${bytes.toString('hex')}`))
  if (scale === 0) return String(value)
  const text = String(value < 0n ? -value : value).padStart(scale + 1, '0')
  return `${value < 0n ? '-' : ''}${text.slice(0, -scale)}.${text.slice(-scale)}`
}
