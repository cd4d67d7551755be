// Opens a record that carries its event, or a batch, in an envelope: in one member, in base64, compressed.
import { isUtf8 } from 'node:buffer'
import { gunzipSync } from 'node:zlib'
import { collectAt, failed, skipSpace } from './collect-at.js'
import { batchLimits, cutBatch, type Batch, type CutBatch, type Range } from './cut-batch.js'
import { envelopes, type Envelope, type Place } from './envelopes.js'

export type OpenOptions = {
  /** Unpacks zstd to at most so many bytes; throws if it cannot. */
  readonly unzstd: (bytes: Buffer, maxBytes: number) => Buffer
}

type Candidate = {
  readonly name: Buffer
  readonly isFirst: boolean
  readonly envelope: Envelope
  readonly mark: Buffer
}

/** By the first letter of the name that an envelope begins with. `mark` tells most ordinary events apart without reading them. */
const byFirstLetter = new Map<number, Candidate[]>()
for (const envelope of envelopes)
  for (const name of [envelope.path[0] ?? '', ...envelope.beside]) {
    const mark = Buffer.from(`"${envelope.needs[0] ?? envelope.path.at(-1) ?? ''}"`)
    const letter = name.charCodeAt(0)
    const candidate = { name: Buffer.from(`"${name}":`), isFirst: name === envelope.path[0], envelope, mark }
    byFirstLetter.set(letter, [...(byFirstLetter.get(letter) ?? []), candidate])
  }

const isAt = (bytes: Buffer, from: number, name: Buffer): boolean => {
  for (let at = 0; at < name.length; at++) if (bytes[from + at] !== name[at]) return false
  return true
}

/** Records of many events, and envelopes of one or many. */
export const createOpenRecord = ({ unzstd }: OpenOptions): CutBatch => {
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

  const openMember = (bytes: Buffer): Batch | undefined => {
    const candidate = byFirstLetter.get(bytes[2] ?? 0)?.find(({ name }) => isAt(bytes, 1, name))
    if (!candidate) return undefined
    const { name, envelope, mark, isFirst } = candidate
    const { place, encoding, path } = envelope
    // Of two levels the first is an object: `{"message":"…` is an ordinary event.
    if (path.length > 1 && bytes[1 + name.length] === 0x22 && isFirst) return undefined
    const found = bytes.indexOf(mark) < 0 ? undefined : memberOf(bytes, 0, envelope)
    if (!found) return undefined
    if (encoding === 'none') return oneIn(bytes, found, place)
    const content = found.text === undefined ? undefined : openBase64(found.text)
    return content && inside(content, place)
  }

  return (bytes) => {
    const first = bytes[0]
    if (first === 0x7b) {
      const batch = cutBatch(bytes)
      return batch ?? openMember(bytes)
    }
    if (first === 0x1f || first === 0x28) {
      const content = unpack(bytes)
      return content && inside(content, 'header')
    }
    // gzip in base64 begins like this.
    if (first === 0x48 && bytes[1] === 0x34 && bytes[2] === 0x73) {
      const content = openBase64(bytes.toString('latin1').trimEnd())
      return content && inside(content, 'header')
    }
    return cutBatch(bytes)
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

type Found = Range & { /** If it is a string. */ readonly text: string | undefined }

const memberOf = (bytes: Buffer, start: number, { path, beside, needs }: Envelope): Found | undefined => {
  const text = bytes.toString('latin1')
  const found: Range[] = []
  const end = collectAt(text, start, { path, beside }, found)
  const [only] = found
  if (end === failed || found.length !== 1 || only === undefined) return undefined
  if (skipSpace(text, end) !== text.length || !isUtf8(bytes)) return undefined
  if (!needs.every((name) => bytes.includes(`"${name}"`))) return undefined
  const isText = bytes[only.from] === 0x22
  if (!isText && bytes[only.from] !== 0x7b) return undefined
  return { ...only, text: isText ? (JSON.parse(bytes.toString('utf8', only.from, only.to)) as string) : undefined }
}

/** One event in a member that is an object or a string. */
const oneIn = (bytes: Buffer, { from, to, text }: Found, place: Place): Batch => ({
  members: [{ from, to }],
  count: 1,
  content: text === undefined ? bytes.subarray(from, to) : Buffer.from(text),
  place,
  isOne: true,
})
