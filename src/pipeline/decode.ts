// Turns the bytes of one record into an event; whatever the bytes are, an event comes out.
import { isUtf8 } from 'node:buffer'
import { ScannedEvent, type Event, type Reading, type Scanned } from './event.js'

export type DecodeLimits = {
  readonly maxEventBytes: number
}

const openBrace = 0x7b
const openBracket = 0x5b

/** `scan`, where there is one, reads the usual JSON object and what is in it in one pass; the parser is for the rest. */
export const decode = (
  bytes: Buffer,
  limits: DecodeLimits,
  scan?: (bytes: Buffer, from: number) => Scanned | undefined,
): Event => {
  const bom = bytes.length >= 3 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
  const start = firstInk(bytes, bom ? 3 : 0)
  if (start === bytes.length) return { bytes, reading: 'empty', text: '', bom }
  if (bytes.length > limits.maxEventBytes) {
    const text = bytes.toString('utf8', bom ? 3 : 0, limits.maxEventBytes)
    return { bytes, reading: 'too_large', text, bom }
  }
  const first = bytes[start]
  const scanned = first === openBrace ? scan?.(bytes, bom ? 3 : 0) : undefined
  if (scanned?.isAscii === true) return new ScannedEvent(bytes, bom, scanned)
  if (!isUtf8(bytes)) return { bytes, reading: 'not_utf8', text: bytes.toString('utf8', bom ? 3 : 0), bom }
  if (scanned) return new ScannedEvent(bytes, bom, scanned)
  const text = bytes.toString('utf8', bom ? 3 : 0)
  const parsed = looksLikeJson(first, bytes, start) ? parse(text) : undefined
  if (parsed === undefined) {
    // `{` opens nothing but JSON; `[` opens many a text line (`[INFO] …`, `[12/Nov/…`).
    const reading: Reading =
      first === openBrace || (first === openBracket && endsInBracket(bytes)) ? 'broken_json' : 'text'
    return { bytes, reading, text, bom }
  }
  const { value } = parsed
  if (Array.isArray(value)) return { bytes, reading: 'json_array', text, bom }
  if (typeof value !== 'object' || value === null) return { bytes, reading: 'json_scalar', text, bom }
  return { bytes, reading: 'json', text, bom, value: value as Record<string, unknown>, names: Object.keys(value) }
}

const firstInk = (bytes: Buffer, from: number): number => {
  let at = from
  while (at < bytes.length && isBlank(bytes[at] ?? 0)) at++
  return at
}

const isBlank = (byte: number): boolean => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d)

/** Spares text lines the cost of a failing parse, which builds an error with a stack. */
const looksLikeJson = (first: number | undefined, bytes: Buffer, start: number): boolean => {
  if (first === openBrace) return true
  if (first === openBracket) return endsInBracket(bytes)
  if (first === 0x22) return true // a string
  const rest = bytes.length - start
  return rest < 400 && /^(-?\d[\d.eE+-]*|true|false|null)\s*$/.test(bytes.toString('latin1', start))
}

const endsInBracket = (bytes: Buffer): boolean => {
  let at = bytes.length - 1
  while (at >= 0 && isBlank(bytes[at] ?? 0)) at--
  return bytes[at] === 0x5d
}

const parse = (text: string): { value: unknown } | undefined => {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch {
    return undefined
  }
}
