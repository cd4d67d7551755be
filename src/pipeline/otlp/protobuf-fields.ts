// The Protobuf wire format: iterates over the fields of a message in place, and writes lengths.
import { deepest } from '../json-grammar.js'

export const wireTypes = { varint: 0, fixed64: 1, bytes: 2, group: 3, groupEnd: 4, fixed32: 5 } as const

/** Iterates over the fields between two positions; the properties describe the field that `next` found. */
export class FieldReader {
  number = 0
  type = 0
  /** The position of the tag. */
  start = 0
  /** The position of the length, if there is one. */
  lengthAt = 0
  /** The range of the content. */
  from = 0
  to: number
  /** Whether the following bytes are not a valid field. */
  isBroken = false

  constructor(
    private readonly bytes: Buffer,
    from: number,
    private readonly end: number,
  ) {
    this.to = from
  }

  /** False at the end, and at invalid bytes. */
  next(): boolean {
    if (this.to >= this.end) return false
    this.start = this.to
    this.isBroken = !this.pass() || this.type === wireTypes.groupEnd
    if (!this.isBroken && this.type === wireTypes.group) this.isBroken = !this.passGroup()
    return !this.isBroken
  }

  private pass(): boolean {
    const tag = this.varint()
    if (tag < 8 || tag > 0xffffffff) return false
    this.number = tag >>> 3
    this.type = tag & 7
    this.from = this.to
    const length = this.lengthOfContent()
    this.to += length
    return length >= 0 && this.to <= this.end
  }

  /** The length after the current position; negative if invalid. */
  private lengthOfContent(): number {
    switch (this.type) {
      case wireTypes.varint:
        return Math.min(0, this.varint())
      case wireTypes.fixed64:
        return 8
      case wireTypes.fixed32:
        return 4
      case wireTypes.bytes: {
        this.lengthAt = this.to
        const length = this.varint()
        this.from = this.to
        return length
      }
      default:
        return this.type === wireTypes.group || this.type === wireTypes.groupEnd ? 0 : -1
    }
  }

  /** Skips a group; no known message has groups. */
  private passGroup(): boolean {
    const { number } = this
    const open = [number]
    while (open.length > 0) {
      if (open.length > deepest || this.to >= this.end || !this.pass()) return false
      if (this.type === wireTypes.group) open.push(this.number)
      else if (this.type === wireTypes.groupEnd && open.pop() !== this.number) return false
    }
    this.number = number
    this.type = wireTypes.group
    return true
  }

  /** Negative if it is longer than 64 bits. Values above 53 bits are inexact, but lengths and tags are smaller. */
  private varint(): number {
    let value = 0
    for (let scale = 1, count = 1; count <= 10 && this.to < this.end; count++, scale *= 128) {
      const byte = this.bytes[this.to++] ?? 0
      if (byte < 0x80) return count === 10 && byte > 1 ? -1 : value + byte * scale
      value += (byte & 0x7f) * scale
    }
    return -1
  }
}

/** The content of a varint field as a signed 64-bit number. */
export const signedAt = (bytes: Buffer, from: number, to: number): bigint => {
  let value = 0n
  for (let at = to - 1; at >= from; at--) value = (value << 7n) | BigInt((bytes[at] ?? 0) & 0x7f)
  return BigInt.asIntN(64, value)
}

/** A length in the shortest form. */
export const varintOf = (value: number): Buffer => {
  const bytes: number[] = []
  let rest = value
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80)
  return Buffer.from([...bytes, rest])
}
