// Reads a field of an event by its path, nested or dotted, including every element of an array.

/** Returns undefined, one value, or all values found. */
type Read = (from: Readonly<Record<string, unknown>>) => unknown

/** Limits recursion, since events are hostile. */
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

/** Limit of a search through a whole event. */
const maxLeaves = 10_000

/** Every scalar of an event, for rules that search the whole event. */
export const leavesOf = (value: unknown): string[] => {
  const leaves: string[] = []
  const open: unknown[] = [value]
  while (open.length > 0 && leaves.length < maxLeaves) {
    const next = open.pop()
    const text = scalarText(next)
    if (text !== undefined) leaves.push(text)
    else if (typeof next === 'object' && next !== null)
      for (const inner of Object.values(next)) if (open.length < maxLeaves) open.push(inner)
  }
  return leaves
}

/** A scalar as text, so that `443` and `"443"` are equal, as in an index. */
export const scalarText = (value: unknown): string | undefined =>
  typeof value === 'string'
    ? value
    : typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint'
      ? String(value)
      : undefined
