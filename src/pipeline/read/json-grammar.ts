// The grammar of JSON below its objects and lists, over bytes: where a number, a literal or a string ends, and -1 where it is none.

const failed = -1

/** Most events have no blanks between their members: one look tells. */
export const skipSpace = (bytes: Buffer, from: number): number =>
  (bytes[from] ?? 0) > 0x20 ? from : skipBlanks(bytes, from)

const skipBlanks = (bytes: Buffer, from: number): number => {
  let at = from
  for (; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) break
  }
  return at
}

const endOfDigits = (bytes: Buffer, from: number): number => {
  let at = from
  while (at < bytes.length && (bytes[at] ?? 0) >= 0x30 && (bytes[at] ?? 0) <= 0x39) at++
  return at
}

/** RFC 8259: no leading zero, no bare point, digits behind a point and behind an `e`. */
export const endOfNumber = (bytes: Buffer, from: number): number => {
  const first = bytes[from] === 0x2d ? from + 1 : from
  let at = endOfDigits(bytes, first)
  if (at === first || (at > first + 1 && bytes[first] === 0x30)) return failed
  if (bytes[at] === 0x2e) {
    const fraction = at + 1
    at = endOfDigits(bytes, fraction)
    if (at === fraction) return failed
  }
  if (bytes[at] === 0x65 || bytes[at] === 0x45) {
    const exponent = bytes[at + 1] === 0x2b || bytes[at + 1] === 0x2d ? at + 2 : at + 1
    at = endOfDigits(bytes, exponent)
    if (at === exponent) return failed
  }
  return at
}

const literals = ['true', 'false', 'null'].map((word) => Buffer.from(word))

export const endOfLiteral = (bytes: Buffer, from: number): number => {
  for (const literal of literals) {
    if (bytes[from] !== literal[0]) continue
    for (let at = 1; at < literal.length; at++) if (bytes[from + at] !== literal[at]) return failed
    return from + literal.length
  }
  return failed
}

const simple = new Set(Buffer.from('"\\/bfnrt'))
const isHex = (byte = 0): boolean => (byte >= 0x30 && byte <= 0x39) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66)

/** `from` is where the backslash should be. */
export const endOfEscape = (bytes: Buffer, from: number): number => {
  if (bytes[from] !== 0x5c) return failed
  if (simple.has(bytes[from + 1] ?? 0)) return from + 2
  if (bytes[from + 1] !== 0x75) return failed
  for (let at = from + 2; at < from + 6; at++) if (!isHex(bytes[at])) return failed
  return from + 6
}

/** The end of the string whose content begins there: its closing quotation mark. */
export const endOfString = (bytes: Buffer, from: number): number => {
  let at = from
  while (at < bytes.length && bytes[at] !== 0x22) {
    if ((bytes[at] ?? 0) < 0x20) return failed
    at = bytes[at] === 0x5c ? endOfEscape(bytes, at) : at + 1
    if (at === failed) return failed
  }
  return at < bytes.length ? at : failed
}
