// Writes Protobuf backwards: the content of a message is complete when its length is written, so nothing is measured in advance.
import { wireTypes } from './protobuf-fields.js'

/** Every write goes before the earlier ones. */
export class BackwardWriter {
  private bytes = Buffer.allocUnsafe(4096)
  private at = this.bytes.length

  /** A length-delimited field around the output of `write`. */
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
      // A negative number takes 64 bits.
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

  /** Returns the output and resets the writer. */
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

  /** Reserves space before the current output. */
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
