// The grammar of JSON (RFC 8259) below its objects and lists, over bytes: where a string, a number or a literal ends.

export const failed = -1
/** Walkers call themselves for each level: what is nested deeper is left to the parser. */
export const deepest = 1000

// What a byte makes of its string: one with a point or a colon is worth a look, and so is what is beyond ASCII.
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

/** What the string that was passed last is made of. */
export type Passed = { marks: number }
const ignored: Passed = { marks: 0 }

/** `from` is behind the quotation mark; returns the position behind the closing one. */
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

/** `from` is where the backslash should be. */
const endOfEscape = (bytes: Buffer, from: number): number => {
  if (bytes[from] !== 0x5c) return failed
  if (((marks[bytes[from + 1] ?? 0] ?? 0) & escapable) !== 0) return from + 2
  let end = from + 2
  while (end < from + 6 && ((marks[bytes[end] ?? 0] ?? 0) & hex) !== 0) end++
  return bytes[from + 1] === 0x75 && end === from + 6 ? end : failed
}

const literals = ['true', 'false', 'null']

/** A number without a leading zero or a bare point, or a literal. */
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
