// Reads a field of an event by its path: nested and dotted spellings alike, and every element of an array.

/** Absent, one value, or every value found; what is neither scalar nor null stands for its presence alone. */
export type Read = (from: Readonly<Record<string, unknown>>) => unknown

/** Arrays within arrays; no product nests deeper, and an event must not exhaust the stack. */
const maxDepth = 32

export const createRead = (path: string): Read => {
  const parts = path.split('.')
  if (parts.length === 1) return (from) => (Object.hasOwn(from, path) ? flat(from[path]) : undefined)
  return (from) => {
    const found: unknown[] = []
    collect(from, parts, 0, found, 0)
    return found.length > 1 ? found : found[0]
  }
}

const flat = (value: unknown): unknown => {
  if (!Array.isArray(value)) return value
  const found: unknown[] = []
  addValue(value, found, 0)
  return found
}

const addValue = (value: unknown, found: unknown[], depth: number): void => {
  if (!Array.isArray(value)) found.push(value)
  else if (depth < maxDepth) for (const element of value) addValue(element, found, depth + 1)
}

const collect = (from: unknown, parts: readonly string[], start: number, found: unknown[], depth: number): void => {
  if (typeof from !== 'object' || from === null || depth > maxDepth) return
  if (Array.isArray(from)) {
    for (const element of from) collect(element, parts, start, found, depth + 1)
    return
  }
  const record = from as Readonly<Record<string, unknown>>
  let name = ''
  for (let end = start; end < parts.length; end++) {
    name = end === start ? (parts[end] ?? '') : `${name}.${parts[end] ?? ''}`
    if (!Object.hasOwn(record, name)) continue
    if (end === parts.length - 1) addValue(record[name], found, depth)
    else collect(record[name], parts, end + 1, found, depth + 1)
  }
}

/** Bounds of a search through a whole event. */
const maxLeaves = 10_000

/** Every scalar of an event, for rules that search for words anywhere. */
export const leavesOf = (value: unknown): string[] => {
  const leaves: string[] = []
  const open: unknown[] = [value]
  while (open.length > 0 && leaves.length < maxLeaves) {
    const next = open.pop()
    const text = textOf(next)
    if (text !== undefined) leaves.push(text)
    else if (typeof next === 'object' && next !== null)
      for (const inner of Object.values(next)) if (open.length < maxLeaves) open.push(inner)
  }
  return leaves
}

/** A scalar as rules compare it: `443` and `"443"` are alike, as they are in an index. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string'
    ? value
    : typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint'
      ? String(value)
      : undefined
