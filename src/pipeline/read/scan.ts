// Reads a JSON object straight from its bytes, in one pass: checks that it is JSON and makes only the strings that can matter.
import { longestSaying } from './action-words.js'
import { endOfEscape, endOfLiteral, endOfNumber, endOfValue, skipSpace } from './json-grammar.js'
import { createKnownTexts, type KnownText } from './known-texts.js'
import { endOfKey, pathOfKey, pathOfLabel, type Cursor, type Path, type Paths } from './paths.js'
import { isWhole, putLater, readPort, readValue, type Reader } from './reader.js'

/** What there is to say of the object, when the bytes from there on are exactly one; nothing where they are not. */
export type Scan = (
  bytes: Buffer,
  from: number,
  level: number,
) => { readonly holdsOurs: boolean; readonly isAscii: boolean } | undefined

/** Deeper objects are checked by the parser and not read: the scan calls itself for each. */
const deepest = 32
const longestPort = 5
const failed = -1
// Of this module: what is imported is fetched anew for every byte. `dotted` makes a string worth a look, `wide` is beyond ASCII.
const dotted = 1
const wide = 2
const stop = 4
const marks = new Uint8Array(256).fill(stop, 0, 0x20).fill(wide, 0x80)
marks[0x2e] = marks[0x3a] = dotted
marks[0x22] = marks[0x5c] = stop

export const createScan = (reader: Reader, paths: Paths, maxDepth: number): Scan => {
  const texts = createKnownTexts()
  const limit = Math.min(deepest, maxDepth)
  let holdsOurs = false
  let isAscii = true
  let isCut = false
  let level = 0
  const cursor: Cursor = { end: 0, isAscii: true }

  const scanObject = (bytes: Buffer, from: number, parent: Path, depth: number, isListed: boolean): number => {
    let before: Path | undefined
    let label = 0
    let at = skipSpace(bytes, from)
    if (bytes[at] === 0x7d) return at + 1
    for (;;) {
      if (bytes[at] !== 0x22) return failed
      let path = before === undefined ? parent.firstGuess : before.nextGuess
      let end = path === undefined ? 0 : endOfKey(bytes, at + 1, path)
      if (path === undefined || end === 0) {
        path = pathOfKey(paths, parent, bytes, at + 1, cursor)
        if (path === undefined || cursor.end >= bytes.length) return failed
        end = cursor.end
        if (before === undefined) parent.firstGuess = path
        else before.nextGuess = path
      }
      if (path.isOurs && depth === 1 && level === 0) holdsOurs = true
      at = end + 1
      if (bytes[at] !== 0x3a) {
        at = skipSpace(bytes, at)
        if (bytes[at] !== 0x3a) return failed
      }
      at = skipSpace(bytes, at + 1)
      before = path
      if (isListed && path.part !== undefined && bytes[at] === 0x22) {
        if (path.part !== 'given') label = path.part === 'label' || label === 0 ? at + 1 : label
        else if (label > 0) path = pathOfLabel(paths, parent, bytes, label) ?? path
      }
      at = scanMember(bytes, at, path, depth)
      if (at === failed) return failed
      at = skipSpace(bytes, at)
      const byte = bytes[at]
      if (byte === 0x7d) return at + 1
      if (byte !== 0x2c) return failed
      at = skipSpace(bytes, at + 1)
    }
  }

  const scanMember = (bytes: Buffer, at: number, path: Path, depth: number): number => {
    const byte = bytes[at] ?? 0
    if (byte === 0x22) return scanString(bytes, at + 1, path, true)
    const { says } = path
    if (byte === 0x7b) return scanNested(bytes, at, path, depth, false)
    if (byte === 0x5b) {
      if (path.isPort)
        readPort(reader, path, /^\[\s*"?(\d{1,5})[\],"]/.exec(bytes.toString('latin1', at, at + 16))?.[1] ?? '')
      else if (says !== undefined) seeList(bytes, at, path)
      return scanNested(bytes, at, path, depth, false)
    }
    if (byte === 0x2d || (byte >= 0x30 && byte <= 0x39)) {
      const end = endOfNumber(bytes, at)
      if (path.isPort && end !== failed && end - at <= longestPort) readPort(reader, path, smallNumber(bytes, at, end))
      return end
    }
    const end = endOfLiteral(bytes, at)
    if (end !== failed && says === 'flag' && byte !== 0x6e) reader.action.see(says, path.name, byte === 0x74, path.rule)
    return end
  }

  /** An object or a list; what is nested too deep is passed over. */
  const scanNested = (bytes: Buffer, at: number, path: Path, depth: number, isListed: boolean): number => {
    if (depth < limit)
      return bytes[at] === 0x7b
        ? scanObject(bytes, at + 1, path, depth + 1, isListed)
        : scanArray(bytes, at + 1, path, depth + 1)
    isCut = true
    return endOfValue(bytes, at)
  }

  const scanArray = (bytes: Buffer, from: number, path: Path, depth: number): number => {
    let at = skipSpace(bytes, from)
    if (bytes[at] === 0x5d) return at + 1
    for (;;) {
      const byte = bytes[at] ?? 0
      if (byte === 0x22) at = scanString(bytes, at + 1, path, false)
      else if (byte === 0x7b || byte === 0x5b) at = scanNested(bytes, at, path, depth, true)
      else if (byte === 0x2d || (byte >= 0x30 && byte <= 0x39)) at = endOfNumber(bytes, at)
      else at = endOfLiteral(bytes, at)
      if (at === failed) return failed
      at = skipSpace(bytes, at)
      if (bytes[at] === 0x5d) return at + 1
      if (bytes[at] !== 0x2c) return failed
      at = skipSpace(bytes, at + 1)
    }
  }

  /** A list of words in a field that tells the action, before its elements are read; not where another list is inside it. */
  const seeList = (bytes: Buffer, open: number, { says, name, rule }: Path): void => {
    const close = bytes.indexOf(0x5d, open)
    const text = close < 0 || close - open > 1024 ? '' : bytes.toString('utf8', open, close + 1)
    if (says !== undefined && /^\[\s*(?:"[^"\\]*"\s*,?\s*)*\]$/.test(text))
      reader.action.see(says, name, text.match(/[^"]+(?="\s*[,\]])/g) ?? [], rule)
  }

  /** `from` is behind the quotation mark; the place behind the closing one is answered. */
  const scanString = (bytes: Buffer, from: number, path: Path, isMember: boolean): number => {
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
    const matters = path.holds !== 'none' && at - from >= 3
    const isSimple = !escaped && (seen & wide) === 0
    const { says } = path
    const tells =
      isMember &&
      says !== undefined &&
      at - from <= (isSimple ? longestSaying : longestSaying * 6) &&
      reader.action.wants(says)
    if (!matters && !tells) return at + 1
    if (!isSimple) {
      readString(JSON.parse(bytes.toString('utf8', from - 1, at + 1)) as string, path, tells)
      return at + 1
    }
    if ((seen & dotted) === 0 && !tells && path.isDotted) return at + 1
    const known = texts.at(bytes, from, at)
    if (known === undefined) readString(bytes.toString('latin1', from, at), path, tells)
    else if (
      known.type !== undefined &&
      !tells &&
      (path.holds === 'host' || (path.holds === 'address' && known.type === 'ip'))
    )
      reader.findings.add(known.type, known.value, path.path, path.role, 'field', path.rule)
    else {
      if (tells) emit(known.text, path)
      if (matters) readKnown(known, path)
    }
    return at + 1
  }

  const emit = (text: string, path: Path): void => {
    if (path.isPort) readPort(reader, path, text)
    else if (path.says !== undefined) reader.action.see(path.says, path.name, text, path.rule)
  }

  const readKnown = (known: KnownText, path: Path): void => {
    // What is an event of its own has more to tell than what is seen in it.
    if (path.holds === 'event' || isWhole(known.text)) readValue(reader, path, path.path, known.text, level)
    else if (known.path === path) {
      for (const { type, value, field, role, evidence, rule, paths } of known.seen)
        reader.findings.add(type, value, field, role, evidence, rule, paths?.[0])
      if (known.later !== undefined && known.later.found?.tokens.length !== 0) putLater(reader, known.later)
    } else {
      const { findings, later } = reader
      const waiting = later.length
      findings.beginNotes()
      readValue(reader, path, path.path, known.text, level)
      known.seen = findings.endNotes()
      known.later = later[waiting]
      known.path = path
    }
  }

  const readString = (text: string, path: Path, tells: boolean): void => {
    if (tells) emit(text, path)
    if (path.holds !== 'none' && text.length >= 3) readValue(reader, path, path.path, text, level)
  }

  const wasCut = (): boolean => isCut
  const wasAscii = (): boolean => isAscii

  return (bytes, from, inside) => {
    // An event inside the event comes back here before the outer one is through.
    const outer = { holdsOurs, isAscii, isCut, level }
    holdsOurs = false
    isAscii = true
    isCut = false
    level = inside
    if (inside === 0) cursor.isAscii = true
    const open = skipSpace(bytes, from)
    const end = bytes[open] !== 0x7b ? failed : scanObject(bytes, open + 1, paths.root, 1, false)
    const isObject = end !== failed && skipSpace(bytes, end) === bytes.length && (!wasCut() || isJson(bytes, from))
    if (wasCut()) reader.findings.markTruncated()
    const scanned = { holdsOurs, isAscii: wasAscii() && cursor.isAscii }
    ;({ holdsOurs, isAscii, isCut, level } = outer)
    return isObject ? scanned : undefined
  }
}

const smallNumber = (bytes: Buffer, from: number, end: number): number => {
  let number = 0
  for (let at = from; at < end; at++) number = number * 10 + ((bytes[at] ?? 0x30) - 0x30)
  return number
}

const isJson = (bytes: Buffer, from: number): boolean => {
  try {
    JSON.parse(bytes.toString('utf8', from))
    return true
  } catch {
    return false
  }
}
