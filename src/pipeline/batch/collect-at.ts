// Finds values by their path in JSON, and checks meanwhile that it is JSON; nothing is parsed into objects.
import { deepest, endOfScalar, endOfString, failed, skipSpace } from '../json-grammar.js'

type Found = { readonly from: number; readonly to: number }
/** Called where a value begins, with the name of the member; answers where the value ends. */
type Visit = (at: number, name: string) => number

type Way = {
  /** Names from the top down; `*` is every element of a list. */
  readonly path: readonly string[]
  /** What else the object at the top may have. */
  readonly isBeside: (name: string) => boolean
}

/** The end of the value that begins there; `found` gets the values at the end of the way. Fails on text that is not JSON, or not of that shape. */
export const collectAt = (bytes: Buffer, from: number, way: Way, found: Found[], step = 0): number => {
  const name = way.path[step]
  if (name === undefined) {
    const to = endOfValue(bytes, from, step)
    if (to !== failed) found.push({ from, to })
    return to
  }
  const deeper = (at: number): number => collectAt(bytes, at, way, found, step + 1)
  if (name === '*' && bytes[from] === 0x5b) return endOfList(bytes, from, deeper)
  if (name === '*' || bytes[from] !== 0x7b) return endOfValue(bytes, from, step)
  return endOfObject(bytes, from, (at, key) => {
    if (key === name) return deeper(at)
    return step > 0 || way.isBeside(key) ? endOfValue(bytes, at, step + 1) : failed
  })
}

export const endOfValue = (bytes: Buffer, at: number, depth: number): number => {
  const byte = bytes[at]
  if (byte === 0x22) return endOfString(bytes, at + 1)
  if (byte !== 0x7b && byte !== 0x5b) return endOfScalar(bytes, at)
  if (depth >= deepest) return failed
  return byte === 0x7b ? endOfObject(bytes, at, undefined, depth) : endOfList(bytes, at, undefined, depth)
}

const endOfObject = (bytes: Buffer, open: number, visit?: Visit, depth = 0): number => {
  let at = skipSpace(bytes, open + 1)
  if (bytes[at] === 0x7d) return at + 1
  for (;;) {
    const start = at
    const end = bytes[at] === 0x22 ? endOfString(bytes, at + 1) : failed
    if (end === failed) return failed
    at = skipSpace(bytes, end)
    if (bytes[at] !== 0x3a) return failed
    at = skipSpace(bytes, at + 1)
    // Names are decoded, so that an escaped spelling hides nothing.
    at = visit ? visit(at, JSON.parse(bytes.toString('utf8', start, end)) as string) : endOfValue(bytes, at, depth + 1)
    if (at === failed) return failed
    at = skipSpace(bytes, at)
    if (bytes[at] === 0x7d) return at + 1
    if (bytes[at] !== 0x2c) return failed
    at = skipSpace(bytes, at + 1)
  }
}

const endOfList = (bytes: Buffer, open: number, visit?: (at: number) => number, depth = 0): number => {
  let at = skipSpace(bytes, open + 1)
  if (bytes[at] === 0x5d) return at + 1
  for (;;) {
    at = visit ? visit(at) : endOfValue(bytes, at, depth + 1)
    if (at === failed) return failed
    at = skipSpace(bytes, at)
    if (bytes[at] === 0x5d) return at + 1
    if (bytes[at] !== 0x2c) return failed
    at = skipSpace(bytes, at + 1)
  }
}
