// Snappy in the two forms used with Kafka: raw, or in frames of the Java library (xerial).

const xerialMagic = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00])
const xerialHeaderBytes = 16

export const unsnappy = (bytes: Buffer, maxBytes: number): Buffer => {
  if (bytes.length < xerialHeaderBytes || !bytes.subarray(0, 8).equals(xerialMagic))
    return unsnappyBlock(bytes, maxBytes)
  const blocks: Buffer[] = []
  let total = 0
  for (let at = xerialHeaderBytes; at < bytes.length;) {
    const length = bytes.readInt32BE(at)
    at += 4
    if (length < 0 || at + length > bytes.length) throw new Error('snappy: a frame is longer than the data')
    const block = unsnappyBlock(bytes.subarray(at, at + length), maxBytes - total)
    total += block.length
    blocks.push(block)
    at += length
  }
  return Buffer.concat(blocks, total)
}

const unsnappyBlock = (bytes: Buffer, maxBytes: number): Buffer => {
  let at = 0
  const next = (): number => {
    const byte = bytes[at++]
    if (byte === undefined) throw new Error('snappy: the data ends too early')
    return byte
  }
  let size = 0
  for (let shift = 0; ; shift += 7) {
    const byte = next()
    size += (byte & 0x7f) * 2 ** shift
    if (byte < 0x80) break
    if (shift > 28) throw new Error('snappy: the length is no number')
  }
  if (size > maxBytes) throw new Error(`snappy: ${size} bytes are more than ${maxBytes}`)
  const out = Buffer.allocUnsafe(size)
  let end = 0
  while (at < bytes.length) {
    const tag = next()
    let length: number
    if ((tag & 3) === 0) {
      length = (tag >>> 2) + 1
      if (length > 60) {
        const extra = length - 60
        length = 0
        for (let index = 0; index < extra; index++) length += next() * 2 ** (8 * index)
        length += 1
      }
      if (at + length > bytes.length || end + length > size)
        throw new Error('snappy: a literal is longer than the data')
      bytes.copy(out, end, at, at + length)
      at += length
      end += length
      continue
    }
    let distance: number
    if ((tag & 3) === 1) {
      length = ((tag >>> 2) & 7) + 4
      distance = ((tag >>> 5) << 8) | next()
    } else if ((tag & 3) === 2) {
      length = (tag >>> 2) + 1
      distance = next() | (next() << 8)
    } else {
      length = (tag >>> 2) + 1
      distance = next() + next() * 0x100 + next() * 0x1_0000 + next() * 0x100_0000
    }
    end = copyWithin(out, end, distance, length)
  }
  if (end !== size) throw new Error('snappy: the data ends too early')
  return out
}

/** A copy may overlap its own output, which repeats the data. */
export const copyWithin = (out: Buffer, end: number, distance: number, length: number): number => {
  const from = end - distance
  if (distance <= 0 || from < 0 || end + length > out.length)
    throw new Error('a copy reaches outside of the uncompressed data')
  if (distance >= length) out.copyWithin(end, from, from + length)
  else for (let index = 0; index < length; index++) out[end + index] = out[from + index] ?? 0
  return end + length
}
