// Cuts a line of text into the pieces that a template names: `{*}: Deny {_} src {source} dst {destination}`.
import { fitOf } from './ecs.js'

type Piece = readonly [name: string, text: string]
/** The pieces, and the text after the last one. */
export type Match = { readonly pieces: Piece[]; readonly rest: string }

/** Literal text, or a hole: `*`, `_` or the name of a piece. */
type Part = { readonly literal: string; readonly hole: string; readonly fits: (text: string) => boolean }

export const partsOf = (line: string): readonly Part[] =>
  line
    .split(/(\{[^{}]*\})/)
    .filter((part) => part !== '')
    .map((part) => {
      const hole = /^\{(.*)\}$/.exec(part)?.[1] ?? ''
      return { literal: hole === '' ? part : '', hole: hole.replace(/\?$/, ''), fits: fitOf(hole) }
    })
export const isNamed = (hole: string): boolean => hole !== '' && hole !== '*' && hole !== '_'

/** The longest text that every line of a template holds. */
export const longestLiteral = (line: string): string =>
  partsOf(line).reduce((longest, { literal }) => (literal.length > longest.length ? literal : longest), '')

/** Pieces that may contain blanks. */
const manyWords = new Set(['time', 'message', 'user_agent.original', 'network.forwarded_ip'])

/** Limit on the ends of pieces tried in one line, so that a hostile line stays cheap. */
const mostTries = 256

/** Compiles a template to a function that cuts a line from the start of its message; undefined if the line does not match. */
export const compileTemplate = (line: string): ((text: string, start: number) => Match | undefined) => {
  const parts = partsOf(line)
  const literals = parts.map(({ literal }) => literal).filter((literal) => literal.trim() !== '')
  let tries = 0
  /** The position after the last part; -1 if the text does not match. */
  const walk = (text: string, pieces: Piece[], index: number, from: number): number => {
    const part = parts[index]
    if (part === undefined) return from
    const { literal, hole, fits } = part
    if (hole === '') return text.startsWith(literal, from) ? walk(text, pieces, index + 1, from + literal.length) : -1
    const next = parts[index + 1]?.literal
    const isAny = hole === '*' || manyWords.has(hole)
    const limit = isAny ? text.length : endOfWord(text, from)
    let end = next === undefined ? limit : text.indexOf(next, from)
    while (end >= 0 && end <= limit && tries++ < mostTries) {
      const value = isNamed(hole) ? text.slice(from, end) : ''
      const behind = (isAny || end > from) && fits(value) ? walk(text, pieces, index + 1, end) : -1
      if (behind >= 0 && isNamed(hole)) pieces.unshift([hole, value])
      if (behind >= 0 || next === undefined) return behind
      end = text.indexOf(next, end + 1)
    }
    return -1
  }
  const matchFrom = (text: string, start: number): Match | undefined => {
    tries = 0
    const pieces: Piece[] = []
    const behind = walk(text, pieces, 0, start)
    return behind < 0 ? undefined : { pieces, rest: text.slice(behind) }
  }
  const longest = longestLiteral(line)
  return (text, start) => {
    // Rejects most lines without trying the template, by the longest text first.
    if (!text.includes(longest)) return undefined
    let at = 0
    for (const literal of literals) {
      const found = text.indexOf(literal, at)
      if (found < 0) return undefined
      at = found + literal.length
    }
    // An apparent header may be the product's own first columns.
    return matchFrom(text, start) ?? (start > 0 ? matchFrom(text, 0) : undefined)
  }
}

/** A piece is one word. Parentheses in it or after it may contain blanks: `inside:192.0.2.1/443(a user) (198.51.100.1/443)`. */
const word = /(?:[^\s()]|\([^()]*\)?)*(?: ?\([^()]*(?:\([^()]*\))?\))*/y
const endOfWord = (text: string, from: number): number => {
  const blank = text.indexOf(' ', from)
  const open = text.indexOf('(', from)
  if (blank >= 0 && (open < 0 || open > blank + 1)) return blank
  word.lastIndex = from
  return Math.max(blank, from + (word.exec(text)?.[0].length ?? 0))
}
