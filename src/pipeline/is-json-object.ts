// Whether bytes are exactly one JSON object, however deep it is nested: in one pass, without recursion, with a bit of memory per level.
import { endOfScalar, endOfString, failed, skipSpace } from './json-grammar.js'

const comma = 0x2c
const colon = 0x3a
const quote = 0x22
const openBracket = 0x5b
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

export const isJsonObject = (bytes: Buffer, from: number): boolean => {
  const { push, pop, isInObject } = createLevels()
  let at = skipSpace(bytes, from)
  if (bytes[at] !== openBrace) return false
  for (;;) {
    // A value begins.
    const byte = bytes[at]
    if (byte === openBrace || byte === openBracket) {
      push(byte === openBrace)
      at = skipSpace(bytes, at + 1)
      if (bytes[at] !== closerOf(isInObject())) {
        if (isInObject()) at = valueBehindName(bytes, at)
        if (at === failed) return false
        continue
      }
    } else {
      at = byte === quote ? endOfString(bytes, at + 1) : endOfScalar(bytes, at)
      if (at === failed) return false
      at = skipSpace(bytes, at)
    }
    // It has ended, and perhaps what it is in.
    while (bytes[at] === closerOf(isInObject())) {
      at = skipSpace(bytes, at + 1)
      if (pop() === 0) return at === bytes.length
    }
    if (bytes[at] !== comma) return false
    at = skipSpace(bytes, at + 1)
    if (isInObject()) at = valueBehindName(bytes, at)
    if (at === failed) return false
  }
}

const closerOf = (isObject: boolean): number => (isObject ? closeBrace : closeBracket)

const valueBehindName = (bytes: Buffer, at: number): number => {
  const end = bytes[at] === quote ? endOfString(bytes, at + 1) : failed
  if (end === failed) return failed
  const behind = skipSpace(bytes, end)
  return bytes[behind] === colon ? skipSpace(bytes, behind + 1) : failed
}

/** For each level whether it is an object; any other is a list. */
const createLevels = () => {
  let bits = new Uint8Array(128)
  let depth = 0
  return {
    push: (isObject: boolean): void => {
      const place = depth >> 3
      if (place === bits.length) {
        const larger = new Uint8Array(2 * bits.length)
        larger.set(bits)
        bits = larger
      }
      const bit = 1 << (depth & 7)
      bits[place] = isObject ? (bits[place] ?? 0) | bit : (bits[place] ?? 0) & ~bit
      depth++
    },
    /** How many are left. */
    pop: (): number => --depth,
    isInObject: (): boolean => ((bits[(depth - 1) >> 3] ?? 0) & (1 << ((depth - 1) & 7))) !== 0,
  }
}
