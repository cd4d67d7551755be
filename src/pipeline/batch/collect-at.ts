// Finds values by their path in JSON, and checks meanwhile that it is JSON; nothing is parsed into objects.
// The text is bytes as latin1, so that places in it are places in the bytes.

export const failed = -1

/** These functions call each other for each level: what is nested deeper is no batch. */
const deepest = 1000
/** RFC 8259: a number without a leading zero or a bare point, or a literal. */
const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
const escape = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y

type Found = { readonly from: number; readonly to: number }
/** Called where a value begins, with the name of the member; answers where the value ends. */
type Visit = (at: number, name: string) => number

export type Way = {
  /** Names from the top down; `*` is every element of a list. */
  readonly path: readonly string[]
  /** What else the object at the top may have. */
  readonly isBeside: (name: string) => boolean
}

/** The end of the value that begins there; `found` gets the values at the end of the way. Fails on text that is not JSON, or not of that shape. */
export const collectAt = (text: string, from: number, way: Way, found: Found[], step = 0): number => {
  const name = way.path[step]
  if (name === undefined) {
    const to = endOfValue(text, from, step)
    if (to !== failed) found.push({ from, to })
    return to
  }
  const deeper = (at: number): number => collectAt(text, at, way, found, step + 1)
  if (name === '*' && text.charCodeAt(from) === 0x5b) return endOfList(text, from, deeper)
  if (name === '*' || text.charCodeAt(from) !== 0x7b) return endOfValue(text, from, step)
  return endOfObject(text, from, (at, key) => {
    if (key === name) return deeper(at)
    return step > 0 || way.isBeside(key) ? endOfValue(text, at, step + 1) : failed
  })
}

export const skipSpace = (text: string, from: number): number => {
  let at = from
  for (let code = text.charCodeAt(at); code <= 0x20; code = text.charCodeAt(++at))
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at
  return at
}

export const endOfValue = (text: string, at: number, depth: number): number => {
  const code = text.charCodeAt(at)
  if (code === 0x22) return endOfString(text, at)
  if (code !== 0x7b && code !== 0x5b) return endOf(scalar, text, at)
  if (depth >= deepest) return failed
  return code === 0x7b ? endOfObject(text, at, undefined, depth) : endOfList(text, at, undefined, depth)
}

const endOf = (pattern: RegExp, text: string, from: number): number => {
  pattern.lastIndex = from
  return pattern.test(text) ? pattern.lastIndex : failed
}

const endOfString = (text: string, open: number): number => {
  for (let at = open + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x22) return at + 1
    if (code < 0x20) return failed
    if (code !== 0x5c) continue
    const end = endOf(escape, text, at)
    if (end === failed) return failed
    at = end - 1
  }
  return failed
}

const endOfObject = (text: string, open: number, visit?: Visit, depth = 0): number => {
  let at = skipSpace(text, open + 1)
  if (text.charCodeAt(at) === 0x7d) return at + 1
  for (;;) {
    const start = at
    const end = text.charCodeAt(at) === 0x22 ? endOfString(text, at) : failed
    if (end === failed) return failed
    at = skipSpace(text, end)
    if (text.charCodeAt(at) !== 0x3a) return failed
    at = skipSpace(text, at + 1)
    // Names are decoded, so that an escaped spelling hides nothing.
    at = visit ? visit(at, JSON.parse(text.slice(start, end)) as string) : endOfValue(text, at, depth + 1)
    if (at === failed) return failed
    at = skipSpace(text, at)
    if (text.charCodeAt(at) === 0x7d) return at + 1
    if (text.charCodeAt(at) !== 0x2c) return failed
    at = skipSpace(text, at + 1)
  }
}

const endOfList = (text: string, open: number, visit?: (at: number) => number, depth = 0): number => {
  let at = skipSpace(text, open + 1)
  if (text.charCodeAt(at) === 0x5d) return at + 1
  for (;;) {
    at = visit ? visit(at) : endOfValue(text, at, depth + 1)
    if (at === failed) return failed
    at = skipSpace(text, at)
    if (text.charCodeAt(at) === 0x5d) return at + 1
    if (text.charCodeAt(at) !== 0x2c) return failed
    at = skipSpace(text, at + 1)
  }
}
