// Opens a record that carries many events, or one or many in an envelope: in one member, in base64, compressed.
import { isUtf8 } from 'node:buffer'
import { gunzipSync } from 'node:zlib'
import { batchLimits, cutBatch, startOf, type Batch, type CutBatch } from './cut-batch.js'
import { eventsAt, isList, shapeAt, type Place, type Shape } from './shapes.js'

export type OpenOptions = {
  /** Unpacks zstd to at most so many bytes; throws if it cannot. */
  readonly unzstd: (bytes: Buffer, maxBytes: number) => Buffer
  /** An envelope that has our annotation is still one. */
  readonly isAnnotationName: (name: string) => boolean
}

export const createOpenRecord = ({ unzstd, isAnnotationName }: OpenOptions): CutBatch => {
  /** What gzip or zstd unpack to; undefined for what is neither, or damaged, or too large. */
  const unpack = (bytes: Buffer): Buffer | undefined => {
    try {
      if (isGzip(bytes)) return gunzipSync(bytes, { maxOutputLength: batchLimits.maxBytes })
      if (isZstd(bytes)) return unzstd(bytes, batchLimits.maxBytes)
    } catch {
      return undefined // it is an event as it is
    }
    return undefined
  }

  const openBase64 = (text: string): Buffer | undefined => {
    if (text.length > batchLimits.maxBytes || !base64.test(text)) return undefined
    const bytes = Buffer.from(text, 'base64')
    return isGzip(bytes) || isZstd(bytes) ? unpack(bytes) : isUtf8(bytes) ? bytes : undefined
  }

  const openEnvelope = (bytes: Buffer, start: number, shape: Shape): Batch | undefined => {
    const { place, isBase64 } = shape
    const members = eventsAt(bytes, start, shape, place === 'top' ? isAnnotationName : undefined)
    const [only] = members ?? []
    if (members?.length !== 1 || only === undefined) return undefined
    const { from, to } = only
    const text = bytes[from] === 0x22 ? (JSON.parse(bytes.toString('utf8', from, to)) as string) : undefined
    if (isBase64) {
      const content = text === undefined ? undefined : openBase64(text)
      return content && inside(content, place)
    }
    if (text === undefined && bytes[from] !== 0x7b) return undefined
    const content = text === undefined ? bytes.subarray(from, to) : Buffer.from(text)
    return { members, count: 1, content, place, isOne: true }
  }

  return (bytes) => {
    const first = bytes[0]
    if (first === 0x1f || first === 0x28) {
      const content = unpack(bytes)
      return content && inside(content, 'header')
    }
    // gzip in base64 begins like this.
    if (first === 0x48 && bytes[1] === 0x34 && bytes[2] === 0x73) {
      const content = openBase64(bytes.toString('latin1').trimEnd())
      return content && inside(content, 'header')
    }
    const batch = cutBatch(bytes)
    if (batch) return batch
    const start = startOf(bytes)
    const shape = bytes[start] === 0x7b && bytes.length <= batchLimits.maxBytes ? shapeAt(bytes, start) : undefined
    return shape && !isList(shape) ? openEnvelope(bytes, start, shape) : undefined
  }
}

const base64 = /^[A-Za-z\d+/]+={0,2}$/
const isGzip = (bytes: Buffer): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b
const isZstd = (bytes: Buffer): boolean => bytes.length > 4 && bytes.readUInt32LE(0) === 0xfd2fb528

/** What was encoded is a batch, or one event. */
const inside = (content: Buffer, place: Place): Batch => {
  const batch = cutBatch(content)
  if (batch) return { ...batch, content, place }
  return { members: [{ from: 0, to: content.length }], count: 1, content, place, isOne: true }
}
