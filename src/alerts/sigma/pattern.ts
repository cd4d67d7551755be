// Compiles a Sigma string with the wildcards `*` and `?` and the escape `\` into a text test.

export type TextTest = (text: string) => boolean

/** A run of literal text, any text (`*`) or any one character (`?`). */
type Piece = string | typeof many | typeof one
const many = Symbol('*')
const one = Symbol('?')

type Pattern = readonly Piece[]

export const parsePattern = (source: string): Pattern => {
  const pieces: Piece[] = []
  let literal = ''
  const flush = (): void => {
    if (literal !== '') pieces.push(literal)
    literal = ''
  }
  for (let at = 0; at < source.length; at++) {
    const char = source.charAt(at)
    const next = source.charAt(at + 1)
    if (char === '\\' && (next === '*' || next === '?' || next === '\\')) {
      literal += next
      at++
    } else if (char === '*' || char === '?') {
      flush()
      if (char === '?') pieces.push(one)
      else if (pieces.at(-1) !== many) pieces.push(many)
    } else literal += char
  }
  flush()
  return pieces
}

export type Affix = 'contains' | 'startswith' | 'endswith'

export const withAffix = (pattern: Pattern, affix: Affix): Pattern => {
  const open = affix === 'startswith' || pattern[0] === many ? [] : [many]
  const close = affix === 'endswith' || pattern.at(-1) === many ? [] : [many]
  return [...open, ...pattern, ...close] as Pattern
}

/** The text, if the pattern has no wildcard. */
export const literalOf = (pattern: Pattern): string | undefined => {
  if (pattern.length === 0) return ''
  const [only] = pattern
  return pattern.length === 1 && typeof only === 'string' ? only : undefined
}

/** Unless `cased`, the text must be in lower case. */
export const createTextTest = (pattern: Pattern, cased: boolean): TextTest => {
  const pieces = cased
    ? pattern
    : pattern.map((piece): Piece => (typeof piece === 'string' ? piece.toLowerCase() : piece))
  const literal = literalOf(pieces)
  if (literal !== undefined) return (text) => text === literal
  if (pieces.length === 1) return pieces[0] === many ? () => true : (text) => text.length === 1
  const words = pieces.filter((piece) => typeof piece === 'string')
  const [word] = words
  if (word !== undefined && words.length === 1 && !pieces.includes(one)) {
    if (pieces.length === 3) return (text) => text.includes(word)
    return pieces[0] === many ? (text) => text.endsWith(word) : (text) => text.startsWith(word)
  }
  return (text) => matches(pieces, text)
}

/** Backtracks only to the last `*`, so the time is at most text × pattern. */
const matches = (pieces: Pattern, text: string): boolean => {
  let piece = 0
  let at = 0
  let star = -1
  let resume = 0
  while (at < text.length || piece < pieces.length) {
    const current = pieces[piece]
    if (current === many) {
      star = piece++
      resume = at
      continue
    }
    const length = current === undefined ? 0 : current === one ? 1 : current.length
    const fits =
      current !== undefined &&
      at + length <= text.length &&
      (current === one || text.startsWith(current, at)) &&
      !(piece === pieces.length - 1 && at + length < text.length)
    if (fits) {
      at += length
      piece++
      continue
    }
    if (star === pieces.length - 1) return true
    if (star < 0 || resume >= text.length) return false
    const after = pieces[star + 1]
    resume = typeof after === 'string' ? text.indexOf(after, resume + 1) : resume + 1
    if (resume < 0) return false
    at = resume
    piece = star + 1
  }
  return true
}
