// Encodes records into one record batch: computes its size, then writes it into the send buffer.
import { pack } from './codecs.js'
import { crc32c } from './crc32c.js'
import type { NewRecord } from './record.js'

const headBytes = 61

export type BatchHead = {
  readonly codec: number
  readonly transactional: boolean
  readonly producerId: bigint
  readonly producerEpoch: number
  readonly firstSequence: number
}

/** A batch with a known size, ready to be written into the send buffer. */
type PreparedBatch = {
  readonly length: number
  readonly writeTo: (bytes: Buffer, from: number) => void
}

export const prepareBatch = (records: readonly NewRecord[], head: BatchHead): PreparedBatch => {
  const times = records.map((record) => Number(record.timestamp))
  const [firstTime = 0] = times
  const sizes = records.map((record, index) => bodyBytes(record, index, (times[index] ?? 0) - firstTime))
  const bodies = sizes.reduce((sum, size) => sum + size + sizeOf(size), 0)
  const writeBodies = (bytes: Buffer, from: number): void => {
    let at = from
    records.forEach((record, index) => {
      at = writeVarint(bytes, at, sizes[index] ?? 0)
      at = writeRecord(bytes, at, record, index, (times[index] ?? 0) - firstTime)
    })
  }
  const packed = head.codec === 0 ? undefined : packedBy(head.codec, bodies, writeBodies)
  const length = headBytes + (packed?.length ?? bodies)
  const lastTime = times.reduce((most, time) => Math.max(most, time), firstTime)
  return {
    length,
    writeTo: (bytes, from) => {
      if (packed) packed.copy(bytes, from + headBytes)
      else writeBodies(bytes, from + headBytes)
      bytes.writeBigInt64BE(0n, from)
      bytes.writeInt32BE(length - 12, from + 8)
      bytes.writeInt32BE(0, from + 12)
      bytes.writeInt8(2, from + 16)
      bytes.writeInt16BE(head.codec | (head.transactional ? 0x10 : 0), from + 21)
      bytes.writeInt32BE(records.length - 1, from + 23)
      bytes.writeBigInt64BE(BigInt(firstTime), from + 27)
      bytes.writeBigInt64BE(BigInt(lastTime), from + 35)
      bytes.writeBigInt64BE(head.producerId, from + 43)
      bytes.writeInt16BE(head.producerEpoch, from + 51)
      bytes.writeInt32BE(head.firstSequence, from + 53)
      bytes.writeInt32BE(records.length, from + 57)
      bytes.writeUInt32BE(crc32c(bytes, from + 21, from + length), from + 17)
    },
  }
}

const packedBy = (codec: number, length: number, write: (bytes: Buffer, from: number) => void): Buffer => {
  const plain = Buffer.allocUnsafe(length)
  write(plain, 0)
  return pack(codec, plain)
}

/** The maximum size of a record in an uncompressed batch. */
export const recordBytes = (record: NewRecord): number => bodyBytes(record, 0x3fff, 2 ** 40) + 5

const bodyBytes = (record: NewRecord, index: number, timeDelta: number): number => {
  let size = 1 + sizeOfLong(timeDelta) + sizeOf(index) + sizeOfBytes(record.key) + sizeOfBytes(record.value)
  size += sizeOf(record.headers.length)
  for (const [name, value] of record.headers) {
    const length = Buffer.byteLength(name)
    size += sizeOf(length) + length + sizeOfBytes(value)
  }
  return size
}

const writeRecord = (bytes: Buffer, from: number, record: NewRecord, index: number, timeDelta: number): number => {
  bytes[from] = 0
  let at = writeVarlong(bytes, from + 1, timeDelta)
  at = writeVarint(bytes, at, index)
  at = writeBytes(bytes, at, record.key)
  at = writeBytes(bytes, at, record.value)
  at = writeVarint(bytes, at, record.headers.length)
  for (const [name, value] of record.headers) {
    at = writeVarint(bytes, at, Buffer.byteLength(name))
    at += bytes.write(name, at)
    at = writeBytes(bytes, at, value)
  }
  return at
}

const zigzag = (value: number): number => ((value << 1) ^ (value >> 31)) >>> 0

const sizeOf = (value: number): number => {
  const coded = zigzag(value)
  return coded < 0x80 ? 1 : coded < 0x4000 ? 2 : coded < 0x20_0000 ? 3 : coded < 0x1000_0000 ? 4 : 5
}
const sizeOfBytes = (value: Buffer | null): number => (value === null ? 1 : sizeOf(value.length) + value.length)

const writeVarint = (bytes: Buffer, at: number, value: number): number => {
  let coded = zigzag(value)
  while (coded > 0x7f) {
    bytes[at++] = (coded & 0x7f) | 0x80
    coded >>>= 7
  }
  bytes[at++] = coded
  return at
}

// Times are safe integers, so their zigzag needs 54 bits: plain arithmetic instead of 32-bit shifts.
const zigzagLong = (value: number): number => (value >= 0 ? value * 2 : -value * 2 - 1)
const sizeOfLong = (value: number): number => {
  let coded = zigzagLong(value)
  let size = 1
  for (; coded > 0x7f; size++) coded = Math.floor(coded / 0x80)
  return size
}
const writeVarlong = (bytes: Buffer, at: number, value: number): number => {
  let coded = zigzagLong(value)
  while (coded > 0x7f) {
    bytes[at++] = (coded % 0x80) | 0x80
    coded = Math.floor(coded / 0x80)
  }
  bytes[at++] = coded
  return at
}

const writeBytes = (bytes: Buffer, at: number, value: Buffer | null): number => {
  if (value === null) {
    bytes[at] = 1
    return at + 1
  }
  const from = writeVarint(bytes, at, value.length)
  return from + value.copy(bytes, from)
}
