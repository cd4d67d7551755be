// Decompresses record batches in every codec of Kafka, and compresses them in the codecs of Node.
import * as zlib from 'node:zlib'
import { unlz4 } from './lz4.js'
import { unsnappy } from './snappy.js'
import { unzstd } from './zstd.js'

/** The limit for a decompressed record batch; brokers limit only the compressed size. */
export const maxUnpackedBytes = 268_435_456

type Codec = 'none' | 'gzip' | 'snappy' | 'lz4' | 'zstd'

// In node:zlib since Node 22.15, and not yet in the types for Node 20.
const native = zlib as typeof zlib & {
  readonly zstdDecompressSync?: (bytes: Buffer, options: { maxOutputLength: number }) => Buffer
  readonly zstdCompressSync?: (bytes: Buffer) => Buffer
}

export const canWrite = (codec: Codec): boolean =>
  codec === 'none' || codec === 'gzip' || (codec === 'zstd' && native.zstdCompressSync !== undefined)

export const unpack = (codec: number, bytes: Buffer): Buffer => {
  switch (codec) {
    case 1:
      return zlib.gunzipSync(bytes, { maxOutputLength: maxUnpackedBytes })
    case 2:
      return unsnappy(bytes, maxUnpackedBytes)
    case 3:
      return unlz4(bytes, maxUnpackedBytes)
    case 4:
      return native.zstdDecompressSync
        ? native.zstdDecompressSync(bytes, { maxOutputLength: maxUnpackedBytes })
        : unzstd(bytes, maxUnpackedBytes)
    default:
      throw new Error(`its codec is ${codec}, which does not exist`)
  }
}

export const pack = (codec: number, bytes: Buffer): Buffer => {
  if (codec === 1) return zlib.gzipSync(bytes, { level: 1 })
  if (codec === 4 && native.zstdCompressSync) return native.zstdCompressSync(bytes)
  throw new Error(`codec ${codec} cannot be written on this Node.js`)
}
