// The record batches of one partition in a fetch response → records.
import { unpack } from './codecs.js'
import { crc32c } from './crc32c.js'
import type { RecordBatch, Header, WireRecord } from './record.js'

const headBytes = 61
/** More than any producer puts into a batch. A few hundred kilobytes of compressed data can hold enough records to exhaust memory. */
const maxRecords = 1_000_000
/** The memory overhead of a record. */
const recordCost = 200

/** The remaining memory budget for decompressed batches of one response. */
export type Room = { left: number }
export const newRoom = (): Room => ({ left: 134_217_728 })
const noHeaders: readonly Header[] = []

/**
 * Unlike the decoder of kafkajs: any number of records fits (it spreads them into a call and overflows the stack); a batch whose
 * last offsets were compacted away ends in a control record with its last offset, so that the position moves past it; and
 * the checksum is verified. A batch that cannot be read is one record that says so, and comes alone: what precedes it in the
 * response is returned first, and the next fetch begins with the batch. So it is with batches for which there is no room left.
 */
export const decodeBatches = (bytes: Buffer, room: Room = newRoom()): WireRecord[] => {
  const records: WireRecord[] = []
  for (let at = 0; at + headBytes <= bytes.length;) {
    const end = at + 12 + bytes.readInt32BE(at + 8)
    if (end > bytes.length || room.left <= 0) break // the last batch of a response may be truncated
    const before = records.length
    try {
      room.left -= decodeBatch(bytes, at, end, records)
    } catch (error) {
      if (before === 0) return [unreadable(bytes.readBigInt64BE(at), error)]
      records.length = before
      break
    }
    at = end
  }
  return records
}

/** Has the largest possible offset, because kafkajs drops records before the requested one and must keep this. */
const unreadable = (offset: bigint, error: unknown): WireRecord => ({
  ...gap(Number.MAX_SAFE_INTEGER, {
    firstOffset: String(offset),
    producerId: '-1',
    inTransaction: false,
    isControlBatch: false,
  }),
  isControlRecord: false,
  unreadable: `the record batch at offset ${offset} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
})

/** Returns the memory used. */
const decodeBatch = (response: Buffer, from: number, to: number, records: WireRecord[]): number => {
  if (to - from < headBytes) throw new Error('it is shorter than its header')
  const format = response[from + 16]
  if (format !== 2) throw new Error(`its format is ${format}, not 2`)
  const stated = response.readUInt32BE(from + 17)
  const checksum = crc32c(response, from + 21, to)
  if (checksum !== stated) throw new Error(`its checksum is ${hex(checksum)}, and it says ${hex(stated)}`)
  const bytes = response.subarray(from, to)
  const firstOffset = Number(bytes.readBigInt64BE(0))
  const attributes = bytes.readInt16BE(21)
  const lastOffset = firstOffset + bytes.readInt32BE(23)
  const firstTime = bytes.readBigInt64BE(27)
  const maxTime = bytes.readBigInt64BE(35)
  const isControlBatch = (attributes & 0x20) !== 0
  const context: RecordBatch = {
    firstOffset: String(firstOffset),
    producerId: bytes.readBigInt64BE(43).toString(),
    inTransaction: (attributes & 0x10) !== 0,
    isControlBatch,
  }
  const count = bytes.readInt32BE(57)
  if (count > maxRecords) throw new Error(`it has ${count} records, more than ${maxRecords}`)
  const packed = bytes.subarray(headBytes)
  const unpacked = (attributes & 7) === 0 || count <= 0 ? packed : unpack(attributes & 7, packed)
  const reader = new RecordReader(unpacked)
  const appendTime = (attributes & 0x08) !== 0 ? maxTime.toString() : undefined
  const safeFirstTime = Number(firstTime)
  let last = firstOffset - 1
  for (let index = 0; index < count; index++) {
    const next = reader.varint()
    const end = reader.at + next
    reader.at += 1 // attributes of a record are not used
    const timeDelta = reader.varlong()
    last = firstOffset + reader.varint()
    const time = safeFirstTime + timeDelta
    records.push({
      offset: String(last),
      timestamp: appendTime ?? (Number.isSafeInteger(time) ? String(time) : wideTime(firstTime, timeDelta)),
      key: reader.bytes(),
      value: reader.bytes(),
      headers: reader.headers(),
      isControlRecord: isControlBatch,
      batchContext: context,
    })
    if (reader.at !== end) throw new Error(`the record at offset ${last} does not match its length`)
  }
  if (last < lastOffset) records.push(gap(lastOffset, context))
  return unpacked.length + Math.max(0, count) * recordCost
}

const hex = (value: number): string => value.toString(16).padStart(8, '0')

const wideTime = (first: bigint, delta: number): string =>
  BigInt.asIntN(64, first + BigInt(Math.trunc(delta))).toString()

const gap = (offset: number, context: RecordBatch): WireRecord => ({
  offset: String(offset),
  timestamp: '-1',
  key: null,
  value: null,
  headers: noHeaders,
  isControlRecord: true,
  batchContext: context,
})

class RecordReader {
  at = 0
  constructor(private readonly source: Buffer) {}

  varint(): number {
    let value = 0
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.source[this.at++]
      if (byte === undefined) throw new Error('a record ends too early')
      value |= (byte & 0x7f) << shift
      if (byte < 0x80) return (value >>> 1) ^ -(value & 1)
    }
    throw new Error('a number in a record is too long')
  }

  /** Exact up to 2⁵³; larger values are not valid times, so precision does not matter. */
  varlong(): number {
    let value = 0
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = this.source[this.at++]
      if (byte === undefined) throw new Error('a record ends too early')
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) return value % 2 === 0 ? value / 2 : -(value + 1) / 2
    }
    throw new Error('a number in a record is too long')
  }

  bytes(): Buffer | null {
    const length = this.varint()
    if (length < 0) return null
    const from = this.at
    this.at += length
    if (this.at > this.source.length) throw new Error('a record ends too early')
    return this.source.subarray(from, this.at)
  }

  headers(): readonly Header[] {
    const count = this.varint()
    if (count <= 0) return noHeaders
    const headers: Header[] = []
    for (let index = 0; index < count; index++) headers.push([this.bytes()?.toString() ?? '', this.bytes()])
    return headers
  }
}
