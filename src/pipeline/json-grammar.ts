// The grammar of JSON (RFC 8259) over bytes: finds the end of strings, numbers, literals and values.

export const failed = -1
/** The depth limit of recursive walkers; deeper values are left to the parser. */
export const deepest = 1000

// Marks of a string by its bytes: a dot, a colon or a non-ASCII byte makes it a candidate for an indicator.
export const dotted = 1
export const wide = 2
export const escaped = 4
const stop = 8
const escapable = 16
const hex = 32
const marks = new Uint8Array(256).fill(dotted | wide, 0x80).fill(stop, 0, 0x20)
const markAll = (letters: string, as: number): void => {
  for (const byte of Buffer.from(letters)) marks[byte] = (marks[byte] ?? 0) | as
}
markAll('.:', dotted)
markAll('"\\', stop)
markAll('"\\/bfnrt', escapable)
markAll('0123456789abcdefABCDEF', hex)

/** The marks of the last string. */
export type Passed = { marks: number }
const ignored: Passed = { marks: 0 }

/** `from` is after the opening quotation mark; returns the position after the closing one. */
export const endOfString = (bytes: Buffer, from: number, passed: Passed = ignored): number => {
  const { length } = bytes
  let made = 0
  for (let at = from; at < length; at++) {
    const byte = bytes[at] ?? 0
    const mark = marks[byte] ?? 0
    if ((mark & stop) === 0) made |= mark
    else if (byte === 0x22) {
      passed.marks = made
      return at + 1
    } else {
      at = endOfEscape(bytes, at) - 1
      if (at < from) return failed
      made |= escaped | dotted
    }
  }
  return failed
}

/** `from` is the expected position of the backslash. */
const endOfEscape = (bytes: Buffer, from: number): number => {
  if (bytes[from] !== 0x5c) return failed
  if (((marks[bytes[from + 1] ?? 0] ?? 0) & escapable) !== 0) return from + 2
  let end = from + 2
  while (end < from + 6 && ((marks[bytes[end] ?? 0] ?? 0) & hex) !== 0) end++
  return bytes[from + 1] === 0x75 && end === from + 6 ? end : failed
}

const literals = ['true', 'false', 'null']

/** The end of a number (without leading zeros or a bare point) or a literal. */
export const endOfScalar = (bytes: Buffer, from: number): number => {
  for (const word of literals) if (isSpelt(word, bytes, from, from + word.length)) return from + word.length
  const first = bytes[from] === 0x2d ? from + 1 : from
  let at = endOfDigits(bytes, first)
  if (at === first || (bytes[first] === 0x30 && at > first + 1)) return failed
  if (bytes[at] === 0x2e) {
    const fraction = at + 1
    at = endOfDigits(bytes, fraction)
    if (at === fraction) return failed
  }
  if (((bytes[at] ?? 0) | 0x20) !== 0x65) return at
  const exponent = bytes[at + 1] === 0x2b || bytes[at + 1] === 0x2d ? at + 2 : at + 1
  at = endOfDigits(bytes, exponent)
  return at === exponent ? failed : at
}

const endOfDigits = (bytes: Buffer, from: number): number => {
  let at = from
  while (at < bytes.length && isDigit(bytes[at] ?? 0)) at++
  return at
}
const isDigit = (byte: number): boolean => byte >= 0x30 && byte <= 0x39

const openBrace = 0x7b
const openBracket = 0x5b
/** From an opening bracket to its closing one. */
const toClosing = 2

/** One byte per level; deeper values get a temporary array, so that no event leaves a large one behind. */
const usualLevels = new Uint8Array(1024)

/** The end of a value, or `failed` if it is invalid or too deep. One pass, without recursion. */
export const endOfValue = (bytes: Buffer, from: number, maxDepth = Infinity): number => {
  let levels = usualLevels
  let depth = 0
  let at = from
  for (;;) {
    const byte = bytes[at] ?? 0
    if (byte === openBrace || byte === openBracket) {
      if (depth >= maxDepth) return failed
      if (depth === levels.length) levels = twiceAsLong(levels)
      levels[depth++] = byte
      at = skipSpace(bytes, at + 1)
      if (bytes[at] !== byte + toClosing) {
        if (byte === openBrace) at = valueBehindName(bytes, at)
        if (at === failed) return failed
        continue
      }
    } else {
      at = byte === 0x22 ? endOfString(bytes, at + 1) : endOfScalar(bytes, at)
      if (at === failed || depth === 0) return at
      at = skipSpace(bytes, at)
    }
    // The end of a value may also end its parents.
    while (bytes[at] === (levels[depth - 1] ?? 0) + toClosing) {
      at++
      if (--depth === 0) return at
      at = skipSpace(bytes, at)
    }
    if (bytes[at] !== 0x2c) return failed
    at = skipSpace(bytes, at + 1)
    if (levels[depth - 1] === openBrace) at = valueBehindName(bytes, at)
    if (at === failed) return failed
  }
}

const valueBehindName = (bytes: Buffer, at: number): number => {
  const end = bytes[at] === 0x22 ? endOfString(bytes, at + 1) : failed
  if (end === failed) return failed
  const behind = skipSpace(bytes, end)
  return bytes[behind] === 0x3a ? skipSpace(bytes, behind + 1) : failed
}

const twiceAsLong = (levels: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> => {
  const larger = new Uint8Array(2 * levels.length)
  larger.set(levels)
  return larger
}

export const skipSpace = (bytes: Buffer, from: number): number => {
  let at = from
  while (at < bytes.length && isSpace(bytes[at] ?? 0)) at++
  return at
}
const isSpace = (byte: number): boolean =>
  byte <= 0x20 && (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09)

/** Whether the bytes are this text as latin1. */
export const isSpelt = (text: string, bytes: Buffer, from: number, to: number): boolean => {
  const { length } = text
  if (length !== to - from) return false
  for (let at = 0; at < length; at++) if (text.charCodeAt(at) !== bytes[from + at]) return false
  return true
}

export const hashOf = (bytes: Buffer, from: number, to: number): number => {
  let hash = to - from
  for (let at = from; at < to; at++) hash = (Math.imul(hash, 31) + (bytes[at] ?? 0)) | 0
  return hash
}
