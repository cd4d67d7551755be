// Reads one line of text: strips its syslog header, then reads JSON, CEF, XML, a known format, pairs or a sentence.
import type { Role } from '../../domain/sighting.js'
import { readCef } from './cef.js'
import type { Field } from './field.js'
import { readRecognised, type Recognise } from './formats.js'
import { colonPairsOf, pairsOf, remainder, type Pair } from './pairs.js'
import { readLater, readPair, seeText, type Reader } from './reader.js'
import type { Scan } from './scan.js'
import { readSyslog } from './syslog.js'
import { readHost } from './value.js'
import { readXml } from './xml.js'

const maxLevel = 3
/** `[junos@2636.1.1.1.2.40 …]`: the number in an element's name identifies its vendor and is no part of the event. */
const elementId = /\[[\w.-]{1,64}@[\d.]{1,64}(?=[ \]])/g

/** Returns the id of the line's format, or else the kind of line. */
type ReadLine = (text: string, field: string, level: number) => string

export const createReadLine = (reader: Reader, scan: Scan, recognise: Recognise): ReadLine => {
  /** Reads the pairs from `begin` on, and the rest as free text; undefined if the text is not made of pairs. */
  const readPairs = (text: string, begin: number, field: string, level: number): string | undefined => {
    const pairs = pairsIn(text, begin)
    if (pairs === undefined) return undefined
    const at = (key: string): string | undefined => pairs.find((pair) => pair.key === key)?.value
    const format = recognise('pairs', { text, start: begin, at })
    if (format) readRecognised(reader, format, field)
    const seen = new Set<string>()
    let previous: { readonly end: number; readonly role: Role } | undefined
    for (const { key, value, start, end } of pairs) {
      const known = ownEnd(reader.fieldOf(key), text, start, previous)
      previous = { end, role: known.role }
      const before = seen.size
      const isRepeated = seen.add(key).size === before
      // A repeated key belongs to something else, such as the packet inside an ICMP error, and not to this event's ends.
      if (isRepeated && known.holds !== 'event') readLater(reader, value, key)
      // Mail with a `to=` went to the relay; other mail came from it.
      else if (key === 'relay') readPair(reader, seen.has('to') ? 'dst' : 'src', value, level)
      else readPair(reader, key, value, level, known)
    }
    const rest = remainder(text, pairs, begin)
    seeText(reader, rest)
    readLater(reader, rest, field, true)
    return format?.id ?? 'pairs'
  }

  const readJson = (body: string, level: number): boolean => {
    const start = body.indexOf('{')
    // After a tag or a collector's cookie, but not in the middle of a sentence.
    if (start < 0 || (start > 120 && (start > 600 || body.charCodeAt(start - 1) !== 0x09))) return false
    if (!/^\{\s{0,8}"/.test(body.slice(start, start + 10)) || !body.trimEnd().endsWith('}')) return false
    const bytes = Buffer.from(body.slice(start))
    if (scan(bytes, 0, level + 1) === undefined) return false
    reader.noteMembers(bytes)
    return true
  }

  return (text, field, level) => {
    if (level > maxLevel) {
      reader.findings.markTruncated()
      return 'text'
    }
    if (text.length < 4) return 'text'
    const { host, id, structured, body } = readSyslog(text)
    if (id !== undefined) reader.action.seeText(id.replaceAll('_', ' '))
    if (host !== undefined) {
      reader.note('observer.name', host)
      readHost(reader.findings, host, { field, role: 'observer', rule: 'syslog:host' })
    }
    if (structured !== undefined) readPairs(structured.replace(elementId, '['), 0, field, level)
    if (body === '') return structured === undefined ? 'text' : 'pairs'
    if (readJson(body, level)) return 'json'
    reader.flow.seeLine(body)
    if (readCef(reader, text, field, level)) return 'cef'
    if (readXml(reader, body, level)) return 'xml'
    const start = text.length - body.length
    const format = recognise('line', { text, start })
    if (format) {
      readRecognised(reader, format, field)
      return format.id
    }
    const pairs = readPairs(text, start, field, level)
    if (pairs !== undefined) {
      // `Nov 15 10:00:00 DENY: IN=eth0 …`
      if (start > 0) reader.action.seeText(text.slice(0, start))
      return pairs
    }
    seeText(reader, text)
    readLater(reader, body, field, true)
    return 'text'
  }
}

/** `from IP=192.0.2.1:40001 (IP=198.51.100.7:389)`: the address in parentheses after the source is the destination. */
const ownEnd = (
  field: Field,
  text: string,
  start: number,
  previous: { readonly end: number; readonly role: Role } | undefined,
): Field =>
  field.role === 'other' &&
  field.holds === 'host' &&
  previous?.role === 'source' &&
  text.slice(previous.end, start) === ' ('
    ? { ...field, role: 'destination', rule: 'pairs:own' }
    : field

/** Undefined if the line is not made of pairs: it takes two to tell them from a sentence, or one that is the whole text. */
const pairsIn = (text: string, begin: number): readonly Pair[] | undefined => {
  const pairs = pairsOf(text, begin)
  const [only] = pairs
  const isMade = pairs.length > 1 || (only?.start === begin && only.end === text.length)
  if (isMade && !text.includes(':"', begin)) return pairs
  const colon = colonPairsOf(text, begin)
  if (isMade) return colon.length > pairs.length ? colon : pairs
  return colon.length > 1 ? colon : undefined
}
