// The grammar of JSON below its objects and lists, over bytes: where a number, a literal or an escape ends, and -1 where it is none.

const failed = -1

export const skipSpace = (bytes: Buffer, from: number): number => {
  let at = from
  while (at < bytes.length) {
    const byte = bytes[at] ?? 0
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) break
    at++
  }
  return at
}

const endOfDigits = (bytes: Buffer, from: number): number => {
  let at = from
  while (at < bytes.length) {
    const byte = bytes[at] ?? 0
    if (byte < 0x30 || byte > 0x39) break
    at++
  }
  return at
}

/** RFC 8259: no leading zero, no bare point, digits behind a point and behind an `e`. */
export const endOfNumber = (bytes: Buffer, from: number): number => {
  const first = bytes[from] === 0x2d ? from + 1 : from
  let at = endOfDigits(bytes, first)
  if (at === first || (at > first + 1 && bytes[first] === 0x30)) return failed
  if (at < bytes.length && bytes[at] === 0x2e) {
    const fraction = at + 1
    at = endOfDigits(bytes, fraction)
    if (at === fraction) return failed
  }
  if (at < bytes.length && ((bytes[at] ?? 0) | 0x20) === 0x65) {
    let exponent = at + 1
    if (exponent < bytes.length && (bytes[exponent] === 0x2b || bytes[exponent] === 0x2d)) exponent++
    at = endOfDigits(bytes, exponent)
    if (at === exponent) return failed
  }
  return at
}

const literals = ['true', 'false', 'null'].map((word) => Array.from(word, (letter) => letter.charCodeAt(0)))

export const endOfLiteral = (bytes: Buffer, from: number): number => {
  for (const codes of literals) {
    if (bytes[from] !== codes[0]) continue
    const end = from + codes.length
    if (end > bytes.length) return failed
    for (let at = 1; at < codes.length; at++) if (bytes[from + at] !== codes[at]) return failed
    return end
  }
  return failed
}

const simple = new Set(Array.from('"\\/bfnrt', (letter) => letter.charCodeAt(0)))

const isHex = (byte: number): boolean =>
  (byte >= 0x30 && byte <= 0x39) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66)

/** `from` is where the backslash should be. */
export const endOfEscape = (bytes: Buffer, from: number): number => {
  if (bytes[from] !== 0x5c || from + 1 >= bytes.length) return failed
  const kind = bytes[from + 1] ?? 0
  if (simple.has(kind)) return from + 2
  if (kind !== 0x75 || from + 6 > bytes.length) return failed
  for (let at = from + 2; at < from + 6; at++) if (!isHex(bytes[at] ?? 0)) return failed
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

/** Where the object or list that opens there closes, by its brackets alone. */
export const endOfValue = (bytes: Buffer, from: number): number => {
  let depth = 0
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0
    if (byte === 0x22) {
      at = endOfString(bytes, at + 1)
      if (at === failed) return failed
    } else if (byte === 0x7b || byte === 0x5b) depth++
    else if ((byte === 0x7d || byte === 0x5d) && --depth === 0) return at + 1
  }
  return failed
}
