// Reads a JSON object in one pass over its text: checks that it is JSON and looks only at the strings that can matter.
import { longestSaying } from './action-words.js'
import { unread, type Path, type Paths } from './paths.js'
import { readPort, readValue, type Reader } from './reader.js'

/** Whether the text is exactly one JSON object; nothing where it is not. `hasAnnotationName`: it has our annotation in it. */
export type Scan = (text: string, level: number) => { readonly hasAnnotationName: boolean } | undefined

/** The scan calls itself for each level: what is nested deeper than this is left to the parser. */
const deepest = 1000
const failed = -1
/** RFC 8259: a number without a leading zero or a bare point, or a literal. */
const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
const escape = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y
const endOf = (pattern: RegExp, text: string, from: number): number => {
  pattern.lastIndex = from
  return pattern.test(text) ? pattern.lastIndex : failed
}
/** Most events have no blanks between their members: one look tells. */
const skipSpace = (text: string, from: number): number => {
  let at = from
  for (let code = text.charCodeAt(at); code <= 0x20; code = text.charCodeAt(++at))
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at
  return at
}

// What a character makes of its string: one with a point or a colon is worth a look.
const dotted = 1
const escaped = 2
const stop = 4
const marks = new Uint8Array(128).fill(stop, 0, 0x20)
marks[0x2e] = marks[0x3a] = dotted
marks[0x22] = marks[0x5c] = stop

export const createScan = (reader: Reader, paths: Paths, maxDepth: number): Scan => {
  let hasAnnotationName = false
  let level = 0
  /** What the string that was passed last is made of. */
  let seen = 0

  /** `from` is behind the quotation mark; the place of the closing one is answered. */
  const endOfString = (text: string, from: number): number => {
    seen = 0
    for (let at = from; at < text.length; at++) {
      const code = text.charCodeAt(at)
      const mark = code < 128 ? (marks[code] ?? 0) : dotted
      if (mark !== stop) seen |= mark
      else if (code === 0x22) return at
      else {
        const end = endOf(escape, text, at)
        if (end === failed) return failed
        seen |= escaped | dotted
        at = end - 1
      }
    }
    return failed
  }
  const stringAt = (text: string, from: number, end: number): string =>
    (seen & escaped) === 0 ? text.slice(from, end) : (JSON.parse(text.slice(from - 1, end + 1)) as string)

  const scanObject = (text: string, from: number, parent: Path, depth: number): number => {
    let before: Path | undefined
    let at = skipSpace(text, from)
    if (text.charCodeAt(at) === 0x7d) return at + 1
    for (;;) {
      if (text.charCodeAt(at) !== 0x22) return failed
      // Events of a kind have their keys in the same order.
      let path = (before === undefined ? parent.firstGuess : before.nextGuess) ?? unread
      if (path !== unread && text.startsWith(path.quoted, at)) at += path.quoted.length
      else {
        const end = endOfString(text, at + 1)
        if (end === failed) return failed
        path = parent === unread ? unread : paths.find(parent, stringAt(text, at + 1, end))
        if (before === undefined) parent.firstGuess = path
        else before.nextGuess = path
        at = end + 1
      }
      if (path.isAnnotationName && depth === 1 && level === 0) hasAnnotationName = true
      at = skipSpace(text, at)
      if (text.charCodeAt(at) !== 0x3a) return failed
      at = skipSpace(text, at + 1)
      before = path
      at = scanValue(text, at, path, depth)
      if (at === failed) return failed
      at = skipSpace(text, at)
      const code = text.charCodeAt(at)
      if (code === 0x7d) return at + 1
      if (code !== 0x2c) return failed
      at = skipSpace(text, at + 1)
    }
  }

  const scanArray = (text: string, from: number, path: Path, depth: number): number => {
    let at = skipSpace(text, from)
    if (text.charCodeAt(at) === 0x5d) return at + 1
    for (;;) {
      at = scanValue(text, at, path, depth)
      if (at === failed) return failed
      at = skipSpace(text, at)
      if (text.charCodeAt(at) === 0x5d) return at + 1
      if (text.charCodeAt(at) !== 0x2c) return failed
      at = skipSpace(text, at + 1)
    }
  }

  const scanValue = (text: string, at: number, path: Path, depth: number): number => {
    const code = text.charCodeAt(at)
    if (code === 0x22) {
      const end = endOfString(text, at + 1)
      if (end !== failed) readString(text, at + 1, end, path)
      return end === failed ? failed : end + 1
    }
    if (code === 0x7b || code === 0x5b) {
      if (depth >= deepest) return failed
      // What is nested too deep is checked and not read.
      if (depth >= maxDepth) reader.findings.markTruncated()
      const inner = depth >= maxDepth ? unread : path
      return code === 0x7b ? scanObject(text, at + 1, inner, depth + 1) : scanArray(text, at + 1, inner, depth + 1)
    }
    const end = endOf(scalar, text, at)
    if (end === failed) return failed
    if (path.isPort && code < 0x3a) readPort(reader, path, text.slice(at, end))
    else if (path.says === 'flag' && (code === 0x74 || code === 0x66))
      reader.action.see(path.says, path.name, code === 0x74, path.rule)
    return end
  }

  const readString = (text: string, from: number, end: number, path: Path): void => {
    const { says, holds } = path
    const length = end - from
    const tells =
      says !== undefined && length <= ((seen & escaped) === 0 ? 1 : 6) * longestSaying && reader.action.wants(says)
    const matters = holds !== 'none' && length >= 3 && ((seen & dotted) !== 0 || !path.isDotted)
    if (!matters && !tells) return
    const value = stringAt(text, from, end)
    if (tells && path.isPort) readPort(reader, path, value)
    else if (tells) reader.action.see(says, path.name, value, path.rule)
    if (matters) readValue(reader, path, path.path, value, level)
  }

  return (text, inside) => {
    // An event inside the event comes back here before the outer one is through.
    const outer = { hasAnnotationName, level }
    hasAnnotationName = false
    level = inside
    const open = skipSpace(text, 0)
    const end = text.charCodeAt(open) === 0x7b ? scanObject(text, open + 1, paths.root, 1) : failed
    const scanned = { hasAnnotationName }
    ;({ hasAnnotationName, level } = outer)
    return end !== failed && skipSpace(text, end) === text.length ? scanned : undefined
  }
}
