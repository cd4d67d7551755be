// Writes Protobuf from its end to its beginning: a message is there when its length is written, so nothing is measured before.
import { wireTypes } from './protobuf-fields.js'

/** Everything is put before what was written until then. */
export class BackwardWriter {
  private bytes = Buffer.allocUnsafe(4096)
  private at = this.bytes.length

  /** A field with a length around what `write` puts there. */
  message(number: number, write: () => void): void {
    const end = this.bytes.length - this.at
    write()
    this.varint(this.bytes.length - this.at - end)
    this.varint(number * 8 + wireTypes.bytes)
  }

  text(number: number, text: string): void {
    const length = Buffer.byteLength(text)
    this.make(length)
    this.bytes.write(text, this.at)
    this.varint(length)
    this.varint(number * 8 + wireTypes.bytes)
  }

  integer(number: number, value: bigint): void {
    if (value >= 0n && value <= Number.MAX_SAFE_INTEGER) this.varint(Number(value))
    else {
      // A negative number is one of 64 bits.
      const rest = BigInt.asUintN(64, value)
      this.varint(Number(rest >> 49n))
      this.make(7)
      for (let nth = 0; nth < 7; nth++) this.bytes[this.at + nth] = Number((rest >> BigInt(nth * 7)) & 0x7fn) | 0x80
    }
    this.varint(number * 8 + wireTypes.varint)
  }

  double(number: number, value: number): void {
    this.make(8)
    this.bytes.writeDoubleLE(value, this.at)
    this.varint(number * 8 + wireTypes.fixed64)
  }

  /** What was written; the next begins anew. */
  take(): Buffer {
    const written = Buffer.from(this.bytes.subarray(this.at))
    this.at = this.bytes.length
    return written
  }

  private varint(value: number): void {
    let size = 1
    for (let rest = value; rest > 0x7f; rest = Math.floor(rest / 128)) size++
    this.make(size)
    let { at } = this
    let rest = value
    for (; rest > 0x7f; rest = Math.floor(rest / 128)) this.bytes[at++] = (rest % 128) | 0x80
    this.bytes[at] = rest
  }

  /** Space for so many bytes before what is there. */
  private make(count: number): void {
    if (count > this.at) {
      const larger = Buffer.allocUnsafe(this.bytes.length * 2 + count)
      this.bytes.copy(larger, larger.length - this.bytes.length)
      this.at += larger.length - this.bytes.length
      this.bytes = larger
    }
    this.at -= count
  }
}
