// Templates of lines, `{*}: Deny {_} src {source} dst {destination}`: cuts a line of text into the pieces that a template names.
import { fitOf, isEcsName } from './ecs.js'

export type Piece = readonly [name: string, text: string]
export type Match = {
  readonly pieces: Piece[]
  /** What stands behind the last piece. */
  readonly rest: string
}

type Part = {
  /** Text that stands there to the letter; empty for a hole. */
  readonly literal: string
  /** `*`, `_` or the name of a piece. */
  readonly hole: string
  readonly isNamed: boolean
  readonly fits: (text: string) => boolean
}

const partsOf = (line: string): readonly Part[] =>
  line
    .split(/(\{[^{}]*\})/)
    .filter((part) => part !== '')
    .map((part) => {
      const hole = /^\{(.*)\}$/.exec(part)?.[1] ?? ''
      const isNamed = !['', '*', '_'].includes(hole)
      return { literal: hole === '' ? part : '', hole: hole.replace(/\?$/, ''), isNamed, fits: fitOf(hole) }
    })

/** What is wrong with a template; nothing where it is sound. */
export const problemOfLine = (line: string): string | undefined => {
  const parts = partsOf(line)
  const unknown = parts.find(({ hole, isNamed }) => isNamed && !isEcsName(hole))
  if (unknown) return `{${unknown.hole}} is no name that a piece can have`
  if (parts.every(({ hole }) => hole === '')) return 'line has no piece in it'
  return parts.some(({ hole }, at) => hole !== '' && parts[at + 1]?.literal === '')
    ? 'two pieces need some text between them'
    : undefined
}

/** So often is a place for the end of a piece tried in one line; a hostile line ends there. */
const mostTries = 256

type Walk = { readonly parts: readonly Part[]; readonly text: string; readonly pieces: Piece[]; tries: number }

/** What a template cuts a line into, from where its message begins; nothing where the line is another. */
export const compileTemplate = (line: string): ((text: string, start: number) => Match | undefined) => {
  const parts = partsOf(line)
  const literals = parts.map(({ literal }) => literal).filter((literal) => literal.trim() !== '')
  const matchFrom = (text: string, start: number): Match | undefined => {
    const pieces: Piece[] = []
    const behind = walk({ parts, text, pieces, tries: 0 }, 0, start)
    return behind < 0 ? undefined : { pieces, rest: text.slice(behind) }
  }
  return (text, start) => {
    // Tells most lines from a template without trying it.
    let at = 0
    for (const literal of literals) {
      const found = text.indexOf(literal, at)
      if (found < 0) return undefined
      at = found + literal.length
    }
    // What looks like a header may be the first columns of the product's own.
    return matchFrom(text, start) ?? (start > 0 ? matchFrom(text, 0) : undefined)
  }
}

/** Where the text goes on behind the last part; -1 where the text is another. */
const walk = (line: Walk, index: number, from: number): number => {
  const { parts, text, pieces } = line
  const part = parts[index]
  if (part === undefined) return from
  if (part.hole === '')
    return text.startsWith(part.literal, from) ? walk(line, index + 1, from + part.literal.length) : -1
  const literal = parts[index + 1]?.literal
  const isAny = part.hole === '*' || part.hole === 'message'
  const blank = isAny ? -1 : text.indexOf(' ', from)
  let limit = blank < 0 ? text.length : blank
  let end = literal !== undefined ? text.indexOf(literal, from) : isAny ? limit : endOfWord(text, from)
  while (end >= 0 && line.tries++ < mostTries) {
    if (end > limit) {
      if (limit === blank) limit = endOfWord(text, from)
      if (end > limit) return -1
    }
    const value = part.isNamed ? text.slice(from, end) : ''
    if ((isAny || end > from) && part.fits(value)) {
      if (part.isNamed) pieces.push([part.hole, value])
      const behind = walk(line, index + 1, end)
      if (behind >= 0) return behind
      if (part.isNamed) pieces.pop()
    }
    end = literal === undefined ? -1 : text.indexOf(literal, end + 1)
  }
  return -1
}

/** A piece is one word; in parentheses, and behind it in parentheses, there may be blanks: `inside:192.0.2.1/443(a user) (198.51.100.1/443)`. */
const word = /(?:[^\s()]|\([^()]*\)?)*(?: ?\([^()]*(?:\([^()]*\))?\))*/y
const endOfWord = (text: string, from: number): number => {
  word.lastIndex = from
  return from + (word.exec(text)?.[0].length ?? 0)
}
