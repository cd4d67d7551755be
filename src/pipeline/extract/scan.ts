// Reads a JSON object in one pass over its bytes: validates the JSON and makes only the strings that can matter.
import {
  deepest,
  dotted,
  endOfScalar,
  endOfString,
  escaped,
  failed,
  isSpelt,
  skipSpace,
  wide,
  type Passed,
} from '../json-grammar.js'
import { longestSaying } from './action-words.js'
import { longestActivityWord } from './activity.js'
import { longestFlowWord } from './flow.js'
import { createKnownTexts } from './known-texts.js'
import { unread, type Path, type Paths } from './paths.js'
import { readPort, readValue, type Reader } from './reader.js'

/** Reads exactly one JSON object; undefined if the bytes are anything else. `hasAnnotationName`: the object contains our annotation. */
export type Scan = (
  bytes: Buffer,
  from: number,
  level: number,
  /** Bytes beyond this position are validated but not read. */
  searchedBytes?: number,
) => { readonly hasAnnotationName: boolean } | undefined

/** The longest name of a name and value pair, with its quotation marks. */
const longestName = 66

/** Looks for `://`; most user agents contain none. */
const hasUrl = (bytes: Buffer, from: number, end: number): boolean => {
  for (let at = from; at < end - 2; at++)
    if (bytes[at] === 0x3a && bytes[at + 1] === 0x2f && bytes[at + 2] === 0x2f) return true
  return false
}

export const createScan = (reader: Reader, paths: Paths, maxDepth: number): Scan => {
  const knownText = createKnownTexts()
  let hasAnnotationName = false
  let level = 0
  let searched = Infinity
  const passed: Passed = { marks: 0 }

  /** A long string up to `end`, without an escape (six bytes at most) that is cut in half. */
  const beginningOf = (bytes: Buffer, from: number, end: number): string => {
    if ((passed.marks & escaped) === 0) return bytes.toString('utf8', from, end)
    for (let cut = end; cut > end - 6; cut--)
      try {
        return JSON.parse(`"${bytes.toString('utf8', from, cut)}"`) as string
      } catch {
        // The next cut may be before the escape.
      }
    return ''
  }

  const stringAt = (bytes: Buffer, from: number, end: number): string =>
    (passed.marks & escaped) !== 0
      ? (JSON.parse(bytes.toString('utf8', from - 1, end + 1)) as string)
      : bytes.toString('utf8', from, end)

  const scanObject = (bytes: Buffer, from: number, parent: Path, depth: number): number => {
    let before: Path | undefined
    let nameAt = 0
    let namedAt = 0
    let at = skipSpace(bytes, from)
    if (bytes[at] === 0x7d) return at + 1
    for (;;) {
      if (bytes[at] !== 0x22) return failed
      // Events of a kind keep the order of their keys, so try the key that came next last time.
      let path = (before === undefined ? parent.firstGuess : before.nextGuess) ?? unread
      let end = at + path.spelling.length
      if (path.isUnread || !isSpelt(path.spelling, bytes, at, end)) {
        end = endOfString(bytes, at + 1, passed)
        if (end === failed) return failed
        path = paths.find(parent, bytes, at, end, at >= searched || parent.isUnread)
        // All unread keys share one path, so they are no basis for a guess.
        if (!path.isUnread && before === undefined) parent.firstGuess = path
        else if (!path.isUnread && before?.isUnread === false) before.nextGuess = path
      }
      at = skipSpace(bytes, end)
      if (bytes[at] !== 0x3a) return failed
      before = path
      const { forged } = reader
      const valueAt = skipSpace(bytes, at + 1)
      at = scanValue(bytes, valueAt, path, depth)
      if (at === failed) return failed
      if (path.pair !== undefined && bytes[valueAt] === 0x22) {
        if (path.pair === 'name') nameAt = valueAt
        else namedAt = valueAt
        if (nameAt > 0 && namedAt > 0) readNamed(bytes, parent, nameAt, namedAt)
      }
      if (path.isKey && bytes[valueAt] === 0x22 && paths.isAnnotationNameAt(bytes, valueAt, at)) reader.forged++
      if (path.isAnnotationName) {
        // Forgeries inside it count together with it.
        const isTop = depth === 1 && level === 0
        hasAnnotationName ||= isTop
        reader.forged = isTop ? forged : forged + 1
      }
      at = skipSpace(bytes, at)
      if (bytes[at] === 0x7d) return at + 1
      if (bytes[at] !== 0x2c) return failed
      at = skipSpace(bytes, at + 1)
    }
  }

  /** Reads the value of a pair again, under the name next to it. */
  const readNamed = (bytes: Buffer, parent: Path, nameAt: number, valueAt: number): void => {
    const nameEnd = endOfString(bytes, nameAt + 1, passed)
    if (valueAt >= searched || nameEnd - nameAt > longestName) return
    const path = paths.find(parent, bytes, nameAt, nameEnd)
    const end = endOfString(bytes, valueAt + 1, passed)
    if (path.role !== 'other' || path.says !== undefined || path.holds === 'forwarded')
      readString(bytes, valueAt + 1, end - 1, path)
  }

  const scanArray = (bytes: Buffer, from: number, path: Path, depth: number): number => {
    let at = skipSpace(bytes, from)
    if (bytes[at] === 0x5d) return at + 1
    for (;;) {
      at = scanValue(bytes, at, path, depth)
      if (at === failed) return failed
      at = skipSpace(bytes, at)
      if (bytes[at] === 0x5d) return at + 1
      if (bytes[at] !== 0x2c) return failed
      at = skipSpace(bytes, at + 1)
    }
  }

  const scanValue = (bytes: Buffer, at: number, path: Path, depth: number): number => {
    const byte = bytes[at] ?? 0
    if (byte === 0x22) {
      const end = endOfString(bytes, at + 1, passed)
      if (end !== failed && at < searched) readString(bytes, at + 1, end - 1, path)
      return end
    }
    if (byte === 0x7b || byte === 0x5b) {
      if (depth >= deepest) return failed
      // Values nested too deep are validated but not read.
      if (depth >= maxDepth) reader.findings.markTruncated()
      const inner = depth >= maxDepth ? unread : path
      return byte === 0x7b ? scanObject(bytes, at + 1, inner, depth + 1) : scanArray(bytes, at + 1, inner, depth + 1)
    }
    const end = endOfScalar(bytes, at)
    if (end === failed || at >= searched) return end
    if (path.flow !== undefined) reader.flow.see(path.flow, path.name, bytes.toString('latin1', at, end), false)
    if (path.activity !== undefined && byte < 0x3a)
      reader.activity.see(path.activity, bytes.toString('latin1', at, end))
    if (path.says === 'id' && byte < 0x3a)
      reader.action.see(path.says, path.name, bytes.toString('latin1', at, end), path.rule)
    else if (path.isPort && byte < 0x3a) readPort(reader, path, bytes.toString('latin1', at, end))
    else if (path.says === 'flag' && (byte === 0x74 || byte === 0x66))
      reader.action.see(path.says, path.name, byte === 0x74, path.rule)
    return end
  }

  const readString = (bytes: Buffer, from: number, end: number, path: Path): void => {
    const { says, holds } = path
    const { marks } = passed
    const length = end - from
    const tells =
      says !== undefined && length <= ((marks & escaped) === 0 ? 1 : 6) * longestSaying && reader.action.wants(says)
    if (path.flow !== undefined && length <= longestFlowWord && (marks & (escaped | wide)) === 0)
      reader.flow.see(path.flow, path.name, knownText(bytes, from, end)?.text ?? stringAt(bytes, from, end), true)
    if (path.activity !== undefined && length <= longestActivityWord && (marks & (escaped | wide)) === 0)
      reader.activity.see(path.activity, knownText(bytes, from, end)?.text ?? stringAt(bytes, from, end))
    const matters = holds !== 'none' && length >= 3 && ((marks & dotted) !== 0 || !path.isDotted)
    if (holds === 'written' && !hasUrl(bytes, from, end)) return
    if (!matters && !tells) return
    const known = (marks & (escaped | wide)) === 0 ? knownText(bytes, from, end) : undefined
    const value = known?.text ?? (end > searched ? beginningOf(bytes, from, searched) : stringAt(bytes, from, end))
    if (tells && path.isPort) readPort(reader, path, value)
    else if (tells) reader.action.see(says, path.name, value, path.rule)
    if (!matters) return
    if (known?.type !== undefined && (holds === 'host' || (holds === 'address' && known.type === 'ip')))
      reader.findings.add(known.type, known.value, path.path, path.role, 'field', path.rule)
    else if (holds !== 'text' || known?.isWorthSearching !== false) readValue(reader, path, path.path, value, level)
  }

  return (bytes, from, inside, searchedBytes = Infinity) => {
    // An event inside the event comes back here before the outer one is finished.
    const outer = { hasAnnotationName, level, searched }
    const { forged } = reader
    hasAnnotationName = false
    level = inside
    searched = searchedBytes
    const open = skipSpace(bytes, from)
    const end = bytes[open] === 0x7b ? scanObject(bytes, open + 1, paths.root, 1) : failed
    const scanned = { hasAnnotationName }
    ;({ hasAnnotationName, level, searched } = outer)
    if (end !== failed && skipSpace(bytes, end) === bytes.length) return scanned
    reader.forged = forged
    return undefined
  }
}
