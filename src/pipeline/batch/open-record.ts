// Opens records with many events or with an envelope: in a member, in base64, compressed.
import { isUtf8 } from 'node:buffer'
import { gunzipSync } from 'node:zlib'
import type { AnnotationKey } from '../annotate/annotation-key.js'
import { applyEdits } from '../annotate/edit.js'
import { batchLimits, cutBatch, startOf, type Batch, type CutBatch } from './cut-batch.js'
import { findForged, type Forged } from './find-forged.js'
import { eventsAt, isList, shapeAt, type AnnotationPlace, type Span, type Shape } from './shapes.js'

export type OpenOptions = {
  /** Decompresses zstd up to `maxBytes`; throws if that fails. */
  readonly unzstd: (bytes: Buffer, maxBytes: number) => Buffer
  readonly key: AnnotationKey
  /** How to treat forged annotations around events: remove and count, or only remove; absent: leave them. */
  readonly onForged?: 'replace' | 'remove' | undefined
}

export const createOpenRecord = ({ unzstd, key, onForged }: OpenOptions): CutBatch => {
  /** Decompresses gzip or zstd; undefined for other, damaged or too large data. */
  const unpack = (bytes: Buffer, maxBytes: number = batchLimits.maxBytes): Buffer | undefined => {
    try {
      if (isGzip(bytes)) return gunzipSync(bytes, { maxOutputLength: maxBytes })
      if (isZstd(bytes)) return unzstd(bytes, maxBytes)
    } catch {
      return undefined // an ordinary event
    }
    return undefined
  }

  const openBase64 = (text: string, maxBytes?: number): Buffer | undefined => {
    if (text.length > batchLimits.maxBytes || !base64.test(text)) return undefined
    const bytes = Buffer.from(text, 'base64')
    return isGzip(bytes) || isZstd(bytes) ? unpack(bytes, maxBytes) : isUtf8(bytes) ? bytes : undefined
  }

  const openEnvelope = (bytes: Buffer, start: number, shape: Shape): Batch | undefined => {
    const { place, isBase64 } = shape
    const found = eventsAt(bytes, start, shape, place === 'top' ? key.isAnnotationName : undefined)
    const contents = found && contentsAt(bytes, found, isBase64)
    const [only] = contents ?? []
    if (!found || !contents || !only) return undefined
    const around = { roots: [start], events: found, hasAttributes: false }
    // Readers disagree on which of several members with one name counts, so each of them is an event.
    if (isBase64) {
      const batch = found.length === 1 ? inside(only, place) : insideAll(contents, place)
      return batch && { ...batch, around }
    }
    return found.length === 1
      ? { members: found, count: 1, content: only, place, isOne: true, around }
      : { members: found, count: found.length, place: place === 'fields' ? 'member' : place, around }
  }

  /** Undefined if one of them cannot be read, or if the total is too large. */
  const contentsAt = (
    bytes: Buffer,
    found: readonly Span[],
    isBase64: true | undefined,
  ): readonly Buffer[] | undefined => {
    if (found.length > batchLimits.maxMembers) return undefined
    const contents: Buffer[] = []
    let left: number = batchLimits.maxBytes
    for (const { from, to } of found) {
      const isText = bytes[from] === 0x22
      if (!isText && (isBase64 || bytes[from] !== 0x7b)) return undefined
      const text = isText ? (JSON.parse(bytes.toString('utf8', from, to)) as string) : ''
      const content = !isText ? bytes.subarray(from, to) : isBase64 ? openBase64(text, left) : Buffer.from(text)
      if (!content || content.length > left) return undefined
      left = Math.max(1, left - content.length)
      contents.push(content)
    }
    return contents
  }

  const open: CutBatch = (bytes) => {
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

  /** Counts forgeries around the events and removes them if the record may be changed. */
  const withoutForged = (bytes: Buffer, batch: Batch): Batch => {
    const packed = batch.packed && batch.content ? findForged(batch.content, batch.packed, key) : nothing
    const { count, left: fixed, cuts } = batch.around ? findForged(bytes, batch.around, key) : nothing
    const left = fixed + packed.count + packed.left
    if (count + left === 0) return batch
    const isCounted = onForged === 'replace'
    if (count === 0 || batch.place === 'header')
      return isCounted ? { ...batch, forgeries: { cut: 0, left: count + left } } : batch
    const record = applyEdits(bytes, cuts)
    const again = open(record)
    if (!again) return { ...batch, forgeries: { cut: 0, left: count + left } }
    return isCounted ? { ...again, record, forgeries: { cut: count, left } } : { ...again, record }
  }

  return onForged === undefined
    ? open
    : (bytes) => {
        const batch = open(bytes)
        return batch && withoutForged(bytes, batch)
      }
}

const nothing: Forged = { count: 0, left: 0, cuts: [] }
const base64 = /^[A-Za-z\d+/]+={0,2}$/
const isGzip = (bytes: Buffer): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b
const isZstd = (bytes: Buffer): boolean => bytes.length > 4 && bytes.readUInt32LE(0) === 0xfd2fb528

/** The decoded content, as a batch or as one event. */
export const inside = (content: Buffer, place: AnnotationPlace): Batch => {
  const batch = cutBatch(content)
  if (batch) return { ...batch, content, place, around: undefined, packed: batch.around }
  return { members: [{ from: 0, to: content.length }], count: 1, content, place, isOne: true }
}

/** Like `inside`, for several contents in a row. */
const insideAll = (contents: readonly Buffer[], place: AnnotationPlace): Batch | undefined => {
  const members: Span[] = []
  let at = 0
  for (const content of contents) {
    for (const { from, to } of inside(content, place).members) members.push({ from: at + from, to: at + to })
    at += content.length
  }
  if (members.length > batchLimits.maxMembers) return undefined
  return { members, count: members.length, content: Buffer.concat(contents), place }
}
