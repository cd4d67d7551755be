// Finds forged annotations around the events of a record: members with our name at any depth, and OpenTelemetry attributes.
import type { AnnotationKey } from '../annotate/annotation-key.js'
import type { Edit } from '../annotate/edit.js'
import { endOfScalar, endOfString, skipSpace } from '../json-grammar.js'
import type { Span } from './shapes.js'

export type Forged = {
  /** How many are taken out. */
  readonly count: number
  /** The number of those that cannot be removed: attributes outside a list. */
  readonly left: number
  /** The edits that remove them. */
  readonly cuts: readonly Edit[]
}

export type Around = {
  /** The start positions of JSON values, which are valid and of bounded depth. */
  readonly roots: readonly number[]
  /** The events, in order; they are skipped. */
  readonly events: readonly Span[]
  /** Whether an element of a list with a `key` is a member of that name. */
  readonly hasAttributes: boolean
}

const quote = 0x22

export const findForged = (bytes: Buffer, around: Around, { isAnnotationNameAt }: AnnotationKey): Forged => {
  const { roots, events, hasAttributes } = around
  const cuts: { at: number; until: number; text: '' }[] = []
  let count = 0
  let left = 0
  let next = 0
  /** Whether the last object was an attribute with our name. */
  let isForgedAttribute = false
  const takeForged = (): boolean => {
    const wasForged = isForgedAttribute
    isForgedAttribute = false
    return wasForged
  }

  const endOfValue = (at: number): number => {
    while ((events[next]?.to ?? Infinity) <= at) next++
    const event = events[next]
    if (event?.from === at) return event.to
    const byte = bytes[at]
    if (byte === quote) return endOfString(bytes, at + 1)
    return byte === 0x7b || byte === 0x5b ? endOfContainer(at, byte === 0x7b) : endOfScalar(bytes, at)
  }

  const cut = (at: number, until: number): void => {
    const before = cuts.at(-1)
    if (before?.until === at) before.until = until
    else cuts.push({ at, until, text: '' })
  }

  const endOfContainer = (open: number, isObject: boolean): number => {
    let isAttribute = false
    let keptEnd = -1
    let from = open + 1
    let at = skipSpace(bytes, from)
    const isClosing = (): boolean => bytes[at] === (isObject ? 0x7d : 0x5d)
    while (!isClosing()) {
      const start = at
      let isForged = false
      let isKey = false
      if (isObject) {
        const end = endOfString(bytes, at + 1)
        isForged = isAnnotationNameAt(bytes, start, end)
        at = skipSpace(bytes, skipSpace(bytes, end) + 1)
        isKey = hasAttributes && bytes[at] === quote && isNamedKey(bytes, start, end)
      }
      const before = { cuts: cuts.length, count, left }
      const valueStart = at
      const valueEnd = endOfValue(at)
      const isForgedBelow = takeForged()
      if (isKey) isAttribute ||= isAnnotationNameAt(bytes, valueStart, valueEnd)
      if (!isObject) isForged = isForgedBelow
      else if (isForgedBelow) left++
      at = skipSpace(bytes, valueEnd)
      const isLast = isClosing()
      const to = isLast ? valueEnd : at + 1
      if (isForged) {
        // Its removal includes nested ones.
        cuts.length = before.cuts
        count = before.count + 1
        left = before.left
        cut(from, to)
        const run = cuts.at(-1)
        // The comma before the last element is removed too.
        if (isLast && run && keptEnd >= 0) run.at = keptEnd
      } else keptEnd = valueEnd
      if (isLast) break
      from = to
      at = skipSpace(bytes, to)
    }
    isForgedAttribute = isAttribute
    return at + 1
  }

  for (const root of roots) {
    endOfValue(root)
    if (takeForged()) left++
  }
  return { count, left, cuts }
}

const isNamedKey = (bytes: Buffer, from: number, to: number): boolean =>
  (bytes[from + 1] === 0x6b || bytes[from + 1] === 0x5c) && JSON.parse(bytes.toString('utf8', from, to)) === 'key'
