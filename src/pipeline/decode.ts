// Turns the bytes of a record into an event. Any bytes result in an event.
import { isUtf8 } from 'node:buffer'
import type { ContentKind } from '../domain/annotation.js'
import { ObjectEvent, type Event } from './event.js'

type DecodeLimits = {
  readonly maxEventBytes: number
}

/** The default record limit of brokers; bytes beyond it are kept but not searched. */
export const decodeLimits: DecodeLimits = { maxEventBytes: 1_048_576 }

const openBrace = 0x7b
const openBracket = 0x5b

/** Classifies the bytes by their start only; extraction validates objects when it scans them. */
export const decode = (bytes: Buffer, limits: DecodeLimits): Event => {
  const bom = bytes.length >= 3 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
  const start = firstNonSpace(bytes, bom ? 3 : 0)
  if (start === bytes.length) return { bytes, reading: 'empty', text: '', bom }
  const first = bytes[start]
  if (first === openBrace) return new ObjectEvent(bytes, bom, limits.maxEventBytes)
  if (bytes.length > limits.maxEventBytes) {
    const text = bytes.toString('utf8', bom ? 3 : 0, limits.maxEventBytes)
    return { bytes, reading: 'too_large', text, bom }
  }
  const text = bytes.toString('utf8', bom ? 3 : 0)
  if (!isUtf8(bytes)) return { bytes, reading: 'not_utf8', text, bom }
  return { bytes, reading: readingOf(first, bytes, start, text), text, bom }
}

const readingOf = (first: number | undefined, bytes: Buffer, start: number, text: string): ContentKind => {
  if (first === openBracket && endsInBracket(bytes)) return isJson(text) ? 'json_array' : 'broken_json'
  // Many text lines start with `[` (`[INFO] …`, `[12/Nov/…`).
  return looksLikeScalar(first, bytes, start) && isJson(text) ? 'json_scalar' : 'text'
}

const firstNonSpace = (bytes: Buffer, from: number): number => {
  let at = from
  while (at < bytes.length && isBlank(bytes[at] ?? 0)) at++
  return at
}

const isBlank = (byte: number): boolean => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d)

/** Avoids failing parses of text lines, which create an error with a stack. */
const looksLikeScalar = (first: number | undefined, bytes: Buffer, start: number): boolean =>
  first === 0x22 ||
  (bytes.length - start < 400 && /^(-?\d[\d.eE+-]*|true|false|null)\s*$/.test(bytes.toString('latin1', start)))

const endsInBracket = (bytes: Buffer): boolean => {
  let at = bytes.length - 1
  while (at >= 0 && isBlank(bytes[at] ?? 0)) at--
  return bytes[at] === 0x5d
}

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
