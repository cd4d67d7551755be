// Finds values by their path in JSON and validates the syntax in the same pass, without parsing into objects.
import { deepest, endOfString, endOfValue, failed, skipSpace } from '../json-grammar.js'

type Found = { readonly from: number; readonly to: number }
/** Called at the start of a value with its member name; returns the end of the value. */
type Visit = (at: number, name: string) => number

type ValuePath = {
  /** Names from the top down; `*` is every element of a list. */
  readonly path: readonly string[]
  /** Whether the top object may have this other member. */
  readonly isBeside: (name: string) => boolean
}

/** The JSON mapping of Protobuf has two spellings of each name, and most readers accept both. */
const otherSpellings: ReadonlyMap<string, string> = new Map([
  ['resourceLogs', 'resource_logs'],
  ['scopeLogs', 'scope_logs'],
  ['logRecords', 'log_records'],
])
export const spellingsOf = (name: string): readonly string[] => {
  const other = otherSpellings.get(name)
  return other === undefined ? [name] : [name, other]
}
export const isCalled = (key: string, name: string): boolean => key === name || key === otherSpellings.get(name)

/** Returns the end of the value and adds the values at the path to `found`. Fails if the text is not JSON or has another shape. */
export const collectAt = (bytes: Buffer, from: number, way: ValuePath, found: Found[], step = 0): number => {
  const name = way.path[step]
  if (name === undefined) {
    const to = endOfValue(bytes, from, deepest - step)
    if (to !== failed) found.push({ from, to })
    return to
  }
  const deeper = (at: number): number => collectAt(bytes, at, way, found, step + 1)
  if (name === '*' && bytes[from] === 0x5b) return endOfList(bytes, from, deeper)
  if (name === '*' || bytes[from] !== 0x7b) return endOfValue(bytes, from, deepest - step)
  return endOfObject(bytes, from, (at, key) => {
    if (isCalled(key, name)) return deeper(at)
    return step > 0 || way.isBeside(key) ? endOfValue(bytes, at, deepest - step - 1) : failed
  })
}

const endOfObject = (bytes: Buffer, open: number, visit: Visit): number => {
  let at = skipSpace(bytes, open + 1)
  if (bytes[at] === 0x7d) return at + 1
  for (;;) {
    const start = at
    const end = bytes[at] === 0x22 ? endOfString(bytes, at + 1) : failed
    if (end === failed) return failed
    at = skipSpace(bytes, end)
    if (bytes[at] !== 0x3a) return failed
    at = skipSpace(bytes, at + 1)
    // Names are decoded, because escapes could hide one.
    at = visit(at, JSON.parse(bytes.toString('utf8', start, end)) as string)
    if (at === failed) return failed
    at = skipSpace(bytes, at)
    if (bytes[at] === 0x7d) return at + 1
    if (bytes[at] !== 0x2c) return failed
    at = skipSpace(bytes, at + 1)
  }
}

const endOfList = (bytes: Buffer, open: number, visit: (at: number) => number): number => {
  let at = skipSpace(bytes, open + 1)
  if (bytes[at] === 0x5d) return at + 1
  for (;;) {
    at = visit(at)
    if (at === failed) return failed
    at = skipSpace(bytes, at)
    if (bytes[at] === 0x5d) return at + 1
    if (bytes[at] !== 0x2c) return failed
    at = skipSpace(bytes, at + 1)
  }
}
