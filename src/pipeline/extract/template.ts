// Templates of lines, `{*}: Deny {_} src {source} dst {destination}`: cuts a line of text into the pieces that a template names.
import { fitOf } from './ecs.js'

type Piece = readonly [name: string, text: string]
/** The pieces, and what is behind the last one. */
export type Match = { readonly pieces: Piece[]; readonly rest: string }

/** Text that is there to the letter, or a hole: `*`, `_` or the name of a piece. */
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

/** Pieces that may have blanks in them. */
const manyWords = new Set(['time', 'message', 'user_agent.original', 'network.forwarded_ip'])

/** So often is a place for the end of a piece tried in one line; a hostile line ends there. */
const mostTries = 256

/** What a template cuts a line into, from where its message begins; nothing where the line is another. */
export const compileTemplate = (line: string): ((text: string, start: number) => Match | undefined) => {
  const parts = partsOf(line)
  const literals = parts.map(({ literal }) => literal).filter((literal) => literal.trim() !== '')
  let tries = 0
  /** Where the text goes on behind the last part; -1 where the text is another. */
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
    // Tells most lines from a template without trying it, the longest text first.
    if (!text.includes(longest)) return undefined
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

/** A piece is one word; in parentheses, and behind it in parentheses, there may be blanks: `inside:192.0.2.1/443(a user) (198.51.100.1/443)`. */
const word = /(?:[^\s()]|\([^()]*\)?)*(?: ?\([^()]*(?:\([^()]*\))?\))*/y
const endOfWord = (text: string, from: number): number => {
  const blank = text.indexOf(' ', from)
  const open = text.indexOf('(', from)
  if (blank >= 0 && (open < 0 || open > blank + 1)) return blank
  word.lastIndex = from
  return Math.max(blank, from + (word.exec(text)?.[0].length ?? 0))
}
