// Locates the members of a JSON object, or the elements of an array, in valid JSON bytes.
import { endOfString, endOfValue, skipSpace } from '../json-grammar.js'

export type JsonItem = {
  /** Right after the preceding bracket or comma. */
  readonly from: number
  /** Start of the key, or of the value in an array. */
  readonly start: number
  readonly valueStart: number
  readonly valueEnd: number
  /** Includes the following comma, if any. */
  readonly to: number
  /** Absent in an array. */
  readonly name?: string
}
/** The end of an object or an array. */
type JsonEnd = {
  readonly last: JsonItem | undefined
  /** The closing bracket. */
  readonly close: number
}
type JsonItems = JsonEnd & { readonly items: readonly JsonItem[] }

const comma = 0x2c
const isClosing = (byte: number | undefined): boolean => byte === 0x7d || byte === 0x5d

/** `open` is the position of the bracket. Takes linear time, does not recurse, and stores only what `visit` keeps. */
export const visitItems = (bytes: Buffer, open: number, visit: (item: JsonItem) => void): JsonEnd => {
  const named = bytes[open] === 0x7b
  let last: JsonItem | undefined
  let from = open + 1
  let at = skipSpace(bytes, from)
  while (at < bytes.length && !isClosing(bytes[at])) {
    const start = at
    let name: string | undefined
    if (named) {
      at = endOfString(bytes, at + 1)
      name = JSON.parse(bytes.toString('utf8', start, at)) as string
      at = skipSpace(bytes, skipSpace(bytes, at) + 1)
    }
    const valueStart = at
    const valueEnd = endOfValue(bytes, at)
    at = skipSpace(bytes, valueEnd)
    const more = bytes[at] === comma
    const to = more ? at + 1 : valueEnd
    last =
      name === undefined ? { from, start, valueStart, valueEnd, to } : { from, start, valueStart, valueEnd, to, name }
    visit(last)
    if (!more) break
    from = to
    at = skipSpace(bytes, from)
  }
  return { last, close: at }
}

export const jsonItemsOf = (
  bytes: Buffer,
  open: number,
  isWanted: (item: JsonItem) => boolean = () => true,
): JsonItems => {
  const items: JsonItem[] = []
  const end = visitItems(bytes, open, (item) => {
    if (isWanted(item)) items.push(item)
  })
  return { ...end, items }
}
