// The LZ4 frame format, read only; Kafka writes independent blocks of at most 4 MB in it.
import { copyWithin } from './snappy.js'

const magic = 0x184d2204
const blockSizes: Readonly<Record<number, number>> = { 4: 65_536, 5: 262_144, 6: 1_048_576, 7: 4_194_304 }

export const unlz4 = (bytes: Buffer, maxBytes: number): Buffer => {
  if (bytes.length < 7 || bytes.readUInt32LE(0) !== magic) throw new Error('lz4: this is no frame')
  const flags = bytes.readUInt8(4)
  if (flags >>> 6 !== 1) throw new Error('lz4: a version that does not exist')
  const blockBytes = blockSizes[(bytes.readUInt8(5) >>> 4) & 7]
  if (blockBytes === undefined) throw new Error('lz4: a block size that does not exist')
  const independent = (flags & 0x20) !== 0
  const blockChecksum = (flags & 0x10) !== 0 ? 4 : 0
  let at = 6 + ((flags & 0x08) !== 0 ? 8 : 0) + ((flags & 0x01) !== 0 ? 4 : 0) + 1
  let out = Buffer.allocUnsafe(Math.min(maxBytes, Math.max(blockBytes, bytes.length * 4)))
  let end = 0
  for (;;) {
    const head = bytes.readUInt32LE(at)
    at += 4
    if (head === 0) break // what may follow is the checksum of the content; the record batch has one of its own
    const length = head & 0x7fffffff
    if (at + length > bytes.length) throw new Error('lz4: a block is longer than the data')
    if (out.length < end + blockBytes) {
      const larger = Buffer.allocUnsafe(Math.max(out.length * 2, end + blockBytes))
      out.copy(larger, 0, 0, end)
      out = larger
    }
    const block = bytes.subarray(at, at + length)
    if (head >>> 31 === 1) end += block.copy(out, end)
    else end = unlz4Block(block, out, end, independent ? end : 0)
    if (end > maxBytes) throw new Error(`lz4: more than ${maxBytes} bytes`)
    at += length + blockChecksum
  }
  return out.subarray(0, end)
}

const unlz4Block = (bytes: Buffer, out: Buffer, start: number, oldest: number): number => {
  let at = 0
  let end = start
  const next = (): number => {
    const byte = bytes[at++]
    if (byte === undefined) throw new Error('lz4: the data ends too early')
    return byte
  }
  const longer = (length: number): number => {
    if (length !== 15) return length
    for (;;) {
      const byte = next()
      length += byte
      if (byte !== 255) return length
    }
  }
  while (at < bytes.length) {
    const token = next()
    const literal = longer(token >>> 4)
    if (at + literal > bytes.length || end + literal > out.length)
      throw new Error('lz4: a literal is longer than the data')
    bytes.copy(out, end, at, at + literal)
    at += literal
    end += literal
    if (at >= bytes.length) break
    const distance = next() | (next() << 8)
    const length = longer(token & 15) + 4
    if (end - distance < oldest) throw new Error('lz4: a copy reaches outside of its block')
    end = copyWithin(out, end, distance, length)
  }
  return end
}
