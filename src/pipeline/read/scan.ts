// Reads a JSON object straight from its bytes, in one pass: checks that it is JSON and makes only the strings that can matter.
import { longestSaying } from './action-words.js'
import { endOfEscape, endOfLiteral, endOfNumber, endOfString, skipSpace } from './json-grammar.js'
import { createKnownTexts } from './known-texts.js'
import { endOfKey, pathOfLabel, unread, type Path, type Paths } from './paths.js'
import { readPort, readValue, type Reader } from './reader.js'

/** Whether the bytes from there on are exactly one JSON object; nothing where they are not. `hasAnnotationName`: it has our annotation in it. */
export type Scan = (bytes: Buffer, from: number, level: number) => { readonly hasAnnotationName: boolean } | undefined

/** The scan calls itself for each level: what is nested deeper than this is left to the parser. */
const deepest = 1000
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
  let hasAnnotationName = false
  let level = 0

  const scanObject = (bytes: Buffer, from: number, parent: Path, depth: number, isListed: boolean): number => {
    let before: Path | undefined
    let label = 0
    let at = skipSpace(bytes, from)
    if (bytes[at] === 0x7d) return at + 1
    for (;;) {
      if (bytes[at] !== 0x22) return failed
      const guess = before === undefined ? parent.firstGuess : before.nextGuess
      let path = guess ?? unread
      let end = guess === undefined ? 0 : endOfKey(bytes, at + 1, guess)
      if (end === 0) {
        end = endOfString(bytes, at + 1)
        if (end === failed) return failed
        path = parent === unread ? unread : paths.find(parent, keyAt(bytes, at + 1, end))
        if (before === undefined) parent.firstGuess = path
        else before.nextGuess = path
      }
      if (path.isAnnotationName && depth === 1 && level === 0) hasAnnotationName = true
      at = skipSpace(bytes, end + 1)
      if (bytes[at] !== 0x3a) return failed
      at = skipSpace(bytes, at + 1)
      before = path
      if (isListed && path.part !== undefined && bytes[at] === 0x22) {
        if (path.part !== 'given') label = path.part === 'label' || label === 0 ? at + 1 : label
        else if (label > 0) path = pathOfLabel(paths, parent, bytes, label) ?? path
      }
      at = scanValue(bytes, at, path, depth, false)
      if (at === failed) return failed
      at = skipSpace(bytes, at)
      const byte = bytes[at]
      if (byte === 0x7d) return at + 1
      if (byte !== 0x2c) return failed
      at = skipSpace(bytes, at + 1)
    }
  }

  const keyAt = (bytes: Buffer, from: number, end: number): string => {
    for (let at = from; at < end; at++)
      if (bytes[at] === 0x5c || (bytes[at] ?? 0) > 0x7f)
        return JSON.parse(bytes.toString('utf8', from - 1, end + 1)) as string
    return texts.at(bytes, from, end).text
  }

  const scanArray = (bytes: Buffer, from: number, path: Path, depth: number): number => {
    let at = skipSpace(bytes, from)
    if (bytes[at] === 0x5d) return at + 1
    for (;;) {
      at = scanValue(bytes, at, path, depth, true)
      if (at === failed) return failed
      at = skipSpace(bytes, at)
      if (bytes[at] === 0x5d) return at + 1
      if (bytes[at] !== 0x2c) return failed
      at = skipSpace(bytes, at + 1)
    }
  }

  const scanValue = (bytes: Buffer, at: number, path: Path, depth: number, isListed: boolean): number => {
    const byte = bytes[at] ?? 0
    if (byte === 0x22) return scanString(bytes, at + 1, path)
    if (byte === 0x7b || byte === 0x5b) {
      if (depth >= deepest) return failed
      // What is nested too deep is checked and not read.
      if (depth >= maxDepth) reader.findings.markTruncated()
      const inner = depth >= maxDepth ? unread : path
      return byte === 0x7b
        ? scanObject(bytes, at + 1, inner, depth + 1, isListed)
        : scanArray(bytes, at + 1, inner, depth + 1)
    }
    if (byte === 0x2d || (byte >= 0x30 && byte <= 0x39)) {
      const end = endOfNumber(bytes, at)
      if (path.isPort && end !== failed && end - at <= longestPort) readPort(reader, path, smallNumber(bytes, at, end))
      return end
    }
    const end = endOfLiteral(bytes, at)
    if (end !== failed && path.says === 'flag' && byte !== 0x6e)
      reader.action.see(path.says, path.name, byte === 0x74, path.rule)
    return end
  }

  /** `from` is behind the quotation mark; the place behind the closing one is answered. */
  const scanString = (bytes: Buffer, from: number, path: Path): number => {
    const { length } = bytes
    let seen = 0
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
      seen |= wide
    }
    const { says, holds } = path
    const isSimple = (seen & wide) === 0
    const tells =
      says !== undefined && at - from <= (isSimple ? longestSaying : longestSaying * 6) && reader.action.wants(says)
    const matters = holds !== 'none' && at - from >= 3 && ((seen & dotted) !== 0 || !isSimple || !path.isDotted)
    if (!matters && !tells) return at + 1
    const known = isSimple ? texts.at(bytes, from, at) : undefined
    const text = known?.text ?? (JSON.parse(bytes.toString('utf8', from - 1, at + 1)) as string)
    if (tells && path.isPort) readPort(reader, path, text)
    else if (tells) reader.action.see(says, path.name, text, path.rule)
    if (!matters) return at + 1
    if (known?.type !== undefined && (holds === 'host' || (holds === 'address' && known.type === 'ip')))
      reader.findings.add(known.type, known.value, path.path, path.role, 'field', path.rule)
    else if (holds !== 'text' || known?.isWorthSearching !== false) readValue(reader, path, path.path, text, level)
    return at + 1
  }

  return (bytes, from, inside) => {
    // An event inside the event comes back here before the outer one is through.
    const outer = { hasAnnotationName, level }
    hasAnnotationName = false
    level = inside
    const open = skipSpace(bytes, from)
    const end = bytes[open] === 0x7b ? scanObject(bytes, open + 1, paths.root, 1, false) : failed
    const scanned = { hasAnnotationName }
    ;({ hasAnnotationName, level } = outer)
    return end !== failed && skipSpace(bytes, end) === bytes.length ? scanned : undefined
  }
}

const smallNumber = (bytes: Buffer, from: number, end: number): number => {
  let number = 0
  for (let at = from; at < end; at++) number = number * 10 + (bytes[at] ?? 0) - 0x30
  return number
}
