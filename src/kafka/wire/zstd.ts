// A Zstandard decoder in JavaScript for Node.js versions without one. The output size is bounded before decoding.
import { decompress } from 'fzstd'

const frameMagic = 0xfd2fb528
const skippableMagic = 0x184d2a50
/** The maximum decompressed size of a block. */
const maxBlockBytes = 131_072
/** The default window limit of zstd; a decoder allocates the window before it reads a byte. */
const maxWindowBytes = 134_217_728
/** The decoder moves its whole window for every block, so the total is limited to avoid seconds of copying. */
const maxMovedBytes = 68_719_476_736

export const unzstd = (bytes: Buffer, maxBytes: number): Buffer => {
  const most = mostBytes(bytes)
  if (most > maxBytes) throw new Error(`zstd: ${most} bytes are more than ${maxBytes}`)
  const { buffer, byteOffset, byteLength } = decompress(bytes)
  return Buffer.from(buffer, byteOffset, byteLength)
}

/**
 * The most that frames can unpack to: what a frame says of its whole, for then the decoder sets aside just that; else what its
 * blocks can hold, exact where one is stored or one byte repeated, the largest there is where it is compressed. Throws where
 * headers lead out of the data or say what no encoder does.
 */
const mostBytes = (bytes: Buffer): number => {
  let total = 0
  for (let at = 0; at < bytes.length;) {
    const magic = bytes.readUInt32LE(at)
    if ((magic & 0xfffffff0) >>> 0 === skippableMagic) {
      at += 8 + bytes.readUInt32LE(at + 4)
      continue
    }
    if (magic !== frameMagic) throw new Error('zstd: this is no frame')
    const head = readHead(bytes, at + 4)
    const blocks = walkBlocks(bytes, head.end)
    if (head.contentBytes === undefined && blocks.count * head.windowBytes > maxMovedBytes)
      throw new Error(`zstd: ${blocks.count} blocks in a window of ${head.windowBytes} bytes`)
    total += head.contentBytes ?? blocks.most
    at = blocks.end + (head.hasChecksum ? 4 : 0)
  }
  return total
}

type Head = {
  readonly contentBytes: number | undefined
  readonly windowBytes: number
  readonly hasChecksum: boolean
  readonly end: number
}

const readHead = (bytes: Buffer, at: number): Head => {
  const flags = bytes.readUInt8(at)
  const isSingle = (flags & 0x20) !== 0
  const sizeFlag = flags >>> 6
  let end = at + 1
  let windowBytes = 0
  if (!isSingle) {
    const window = bytes.readUInt8(end++)
    const base = 2 ** (10 + (window >>> 3))
    windowBytes = base + (base / 8) * (window & 7)
  }
  end += [0, 1, 2, 4][flags & 3] ?? 0 // the number of a dictionary
  let contentBytes: number | undefined
  if (sizeFlag === 0 && isSingle) contentBytes = bytes.readUInt8(end++)
  else if (sizeFlag === 1) contentBytes = bytes.readUInt16LE(end) + 256
  else if (sizeFlag === 2) contentBytes = bytes.readUInt32LE(end)
  else if (sizeFlag === 3) contentBytes = Number(bytes.readBigUInt64LE(end))
  if (sizeFlag > 0) end += 2 ** sizeFlag
  if (windowBytes > maxWindowBytes)
    throw new Error(`zstd: a window of ${windowBytes} bytes is more than ${maxWindowBytes}`)
  return { contentBytes, windowBytes, hasChecksum: (flags & 4) !== 0, end }
}

const walkBlocks = (
  bytes: Buffer,
  from: number,
): { readonly most: number; readonly count: number; readonly end: number } => {
  let most = 0
  let count = 0
  for (let at = from; ;) {
    const head = bytes.readUIntLE(at, 3)
    const kind = (head >>> 1) & 3
    const size = head >>> 3
    at += 3
    count++
    if (size > maxBlockBytes) throw new Error(`zstd: a block of ${size} bytes is more than ${maxBlockBytes}`)
    most += kind === 2 ? maxBlockBytes : size
    at += kind === 1 ? 1 : size
    if (at > bytes.length) throw new Error('zstd: a block is longer than the data')
    if ((head & 1) === 1) return { most, count, end: at }
  }
}
