// Reads a JSON object straight from its bytes, in one pass: checks that it is JSON and makes only the strings that can matter.
import { portRank } from './action-fields.js'
import { longestSaying } from './action-verbs.js'
import { seeList } from './list-actions.js'
import { placeAtLabel } from './labelled.js'
import { createMetTexts, type MetText } from './met-texts.js'
import { endOfKey, placeOfKey, type Place, type Places } from './places.js'
import { isWhole, putLater, readByRule, type Reader } from './reader.js'
import { endOfEscape, endOfLiteral, endOfNumber, skipSpace } from './json-grammar.js'
import { markBytes } from './string-marks.js'

/**
 * What there is to say of the object, when the bytes from there on are exactly one; what its members hold goes to the reader.
 * Nothing where a parser has to decide: whatever is no JSON, and what is JSON in a way that is rare (a key twice, a key with escapes,
 * keys that are numbers, deep nesting). What the reader was told before that must then be forgotten.
 */
export type Scan = (
  bytes: Buffer,
  from: number,
) => { readonly holdsOurs: boolean; readonly isAscii: boolean } | undefined

const maxDepth = 32
const longestPort = 5
const failed = -1
// Of this module: what is imported is fetched anew for every byte.
const dotted = 1
const wide = 2
const stop = 4
const marks = markBytes(dotted, wide, stop)

export const createScan = (reader: Reader, places: Places): Scan => {
  const texts = createMetTexts()
  const deepest = Math.min(maxDepth, reader.maxDepth)
  /** Numbers the objects, so that a key that comes twice in one is noticed. */
  let objects = 0
  let holdsOurs = false
  let isAscii = true

  const scanObject = (bytes: Buffer, from: number, parent: Place, depth: number, isListed: boolean): number => {
    if (depth > deepest) return failed
    const object = (objects = (objects + 1) & 0x3fffffff)
    let before: Place | undefined
    let label = 0
    let at = skipSpace(bytes, from)
    if (bytes[at] === 0x7d) return at + 1
    for (;;) {
      if (bytes[at] !== 0x22) return failed
      let place = before === undefined ? parent.firstGuess : before.nextGuess
      let end = place === undefined ? 0 : endOfKey(bytes, at + 1, place)
      if (place === undefined || end === 0) {
        place = placeOfKey(places, parent, bytes, at + 1)
        if (place === undefined) return failed
        end = at + 1 + place.codes.length
        if (before === undefined) parent.firstGuess = place
        else before.nextGuess = place
      }
      if (place.seenIn === object || place.isMoved) return failed
      place.seenIn = object
      if (place.isOurs && depth === 1) holdsOurs = true
      at = end + 1
      if (bytes[at] !== 0x3a) {
        at = skipSpace(bytes, at)
        if (bytes[at] !== 0x3a) return failed
      }
      at = skipSpace(bytes, at + 1)
      before = place
      if (isListed && place.part !== undefined && bytes[at] === 0x22) {
        if (place.part !== 'given') label = place.part === 'label' || label === 0 ? at + 1 : label
        else if (label > 0) {
          const given = placeAtLabel(places, parent, bytes, label)
          if (given === null) return failed
          place = given ?? place
        }
      }
      at = scanMember(bytes, at, place, depth)
      if (at === failed) return failed
      at = skipSpace(bytes, at)
      const byte = bytes[at]
      if (byte === 0x7d) return at + 1
      if (byte !== 0x2c) return failed
      at = skipSpace(bytes, at + 1)
    }
  }

  const scanMember = (bytes: Buffer, at: number, place: Place, depth: number): number => {
    const byte = bytes[at] ?? 0
    if (byte === 0x22) return scanString(bytes, at + 1, place, true)
    if (byte === 0x2d || (byte >= 0x30 && byte <= 0x39)) {
      const end = endOfNumber(bytes, at)
      if (place.actionRank === portRank && end !== failed && end - at <= longestPort)
        reader.action.see(portRank, place.name, bytes.toString('latin1', at, end))
      return end
    }
    if (byte === 0x7b) return scanObject(bytes, at + 1, place, depth + 1, false)
    if (byte === 0x5b) {
      if (place.actionRank > 0 && !seeList(reader, bytes, at, place)) return failed
      return scanArray(bytes, at + 1, place, depth + 1)
    }
    const end = endOfLiteral(bytes, at)
    if (end !== failed && place.actionRank === 4 && byte !== 0x6e) reader.action.see(4, place.name, byte === 0x74)
    return end
  }

  const scanArray = (bytes: Buffer, from: number, place: Place, depth: number): number => {
    if (depth > deepest) return failed
    let at = skipSpace(bytes, from)
    if (bytes[at] === 0x5d) return at + 1
    for (;;) {
      const byte = bytes[at] ?? 0
      if (byte === 0x22) at = scanString(bytes, at + 1, place, false)
      else if (byte === 0x7b) at = scanObject(bytes, at + 1, place, depth + 1, true)
      else if (byte === 0x5b) at = scanArray(bytes, at + 1, place, depth + 1)
      else if (byte === 0x2d || (byte >= 0x30 && byte <= 0x39)) at = endOfNumber(bytes, at)
      else at = endOfLiteral(bytes, at)
      if (at === failed) return failed
      at = skipSpace(bytes, at)
      if (bytes[at] === 0x5d) return at + 1
      if (bytes[at] !== 0x2c) return failed
      at = skipSpace(bytes, at + 1)
    }
  }

  /** `from` is behind the quotation mark; the place behind the closing one is answered. */
  const scanString = (bytes: Buffer, from: number, place: Place, isMember: boolean): number => {
    const { length } = bytes
    let seen = 0
    let escaped = false
    let at = from
    for (;;) {
      let mark = 0
      for (; at < length; at++) {
        mark = marks[bytes[at] ?? 0] ?? stop
        if (mark === stop) break
        seen |= mark
      }
      if (at >= length) return failed
      if (bytes[at] === 0x22) break
      at = endOfEscape(bytes, at)
      if (at === failed) return failed
      escaped = true
    }
    if ((seen & wide) !== 0) isAscii = false
    const matters = place.reads !== 'none' && at - from >= 3
    const isSimple = !escaped && (seen & wide) === 0
    const tells =
      isMember &&
      place.actionRank > 0 &&
      at - from <= (isSimple ? longestSaying : longestSaying * 6) &&
      reader.action.wants(place.actionRank)
    if (!matters && !tells) return at + 1
    if (!isSimple) {
      readString(JSON.parse(bytes.toString('utf8', from - 1, at + 1)) as string, place, tells)
      return at + 1
    }
    if ((seen & dotted) === 0 && !tells && place.isDotted) return at + 1
    const met = texts.at(bytes, from, at)
    if (met === undefined) readString(bytes.toString('latin1', from, at), place, tells)
    else if (
      met.type !== undefined &&
      !tells &&
      (place.reads === 'host' || (place.reads === 'address' && met.type === 'ip'))
    )
      reader.sightings.add(met.type, met.value, place.path, place.role, 'field')
    else {
      if (tells) reader.action.see(place.actionRank, place.name, met.text)
      if (matters) readMet(met, place)
    }
    return at + 1
  }

  const readMet = (met: MetText, place: Place): void => {
    // What is an event of its own has more to tell than what is seen in it.
    if (place.reads === 'event' || isWhole(met.text)) readByRule(reader, place.rule, place.path, met.text, 0)
    else if (met.place === place) {
      for (const { type, value, field, role, evidence, path } of met.seen)
        reader.sightings.add(type, value, field, role, evidence, path)
      if (met.later !== undefined && met.later.tokens?.length !== 0) putLater(reader, met.later)
    } else {
      const { sightings, later } = reader
      const waiting = later.length
      sightings.beginNotes()
      readByRule(reader, place.rule, place.path, met.text, 0)
      met.seen = sightings.endNotes()
      met.later = later[waiting]
      met.place = place
    }
  }

  const readString = (text: string, place: Place, tells: boolean): void => {
    if (tells) reader.action.see(place.actionRank, place.name, text)
    if (place.reads !== 'none' && text.length >= 3) readByRule(reader, place.rule, place.path, text, 0)
  }

  return (bytes, from) => {
    holdsOurs = false
    isAscii = true
    const open = skipSpace(bytes, from)
    const end = bytes[open] !== 0x7b ? failed : scanObject(bytes, open + 1, places.root, 1, false)
    return end !== failed && skipSpace(bytes, end) === bytes.length ? { holdsOurs, isAscii } : undefined
  }
}
