// Templates of lines, `{*}: Deny {_} src {source} dst {destination}`: cuts a line of text into the pieces that a template names.
import { fitOf, isEcsName } from './ecs.js'

export type Piece = readonly [name: string, text: string]
export type Match = {
  readonly pieces: readonly Piece[]
  /** What stands behind the last piece. */
  readonly rest: string
}

type Part = { readonly literal: string } | { readonly hole: string }

/** `'{*}: Deny {_} src {source} dst {destination}'`; what stands in it that is no name is a problem of the file, told when it is loaded. */
export const partsOf = (line: string): readonly Part[] =>
  line
    .split(/(\{[^{}]*\})/)
    .flatMap((part): Part[] =>
      part === '' ? [] : part.startsWith('{') ? [{ hole: part.slice(1, -1) }] : [{ literal: part }],
    )

/** What is wrong with a template; nothing where it is sound. */
export const problemOfLine = (line: string): string | undefined => {
  const parts = partsOf(line)
  const unknown = parts.find(
    (part) => 'hole' in part && part.hole !== '*' && part.hole !== '_' && !isEcsName(part.hole.replace(/\?$/, '')),
  )
  if (unknown && 'hole' in unknown) return `{${unknown.hole}} is no name that a piece can have`
  return parts.some((part, at) => 'hole' in part && 'hole' in (parts[at + 1] ?? { literal: '' }))
    ? 'two pieces need some text between them'
    : undefined
}

/** So often is a place for `{*}` tried in one line; a hostile line ends there. */
const mostTries = 256

type Step = {
  /** What stands there to the letter; of a hole, what stands behind it. */
  readonly literal: string | undefined
  readonly isHole: boolean
  readonly isAny: boolean
  readonly isMessage: boolean
  /** The name of the piece; none for `{*}` and `{_}`. */
  readonly name: string | undefined
  readonly fits: (text: string) => boolean
}

const stepOf = (part: Part, next: Part | undefined): Step => {
  if ('literal' in part)
    return { literal: part.literal, isHole: false, isAny: false, isMessage: false, name: undefined, fits: () => true }
  const { hole } = part
  const isNamed = hole !== '*' && hole !== '_'
  return {
    literal: next !== undefined && 'literal' in next ? next.literal : undefined,
    isHole: true,
    isAny: hole === '*',
    isMessage: hole === 'message',
    name: isNamed ? hole.replace(/\?$/, '') : undefined,
    fits: isNamed ? fitOf(hole) : () => true,
  }
}

/** What a template cuts a line into, from where its message begins; nothing where the line is another. */
export const compileTemplate = (line: string): ((text: string, start: number) => Match | undefined) => {
  const parts = partsOf(line)
  const steps = parts.map((part, at) => stepOf(part, parts[at + 1]))
  const literals = parts.flatMap((part) => ('literal' in part ? [part.literal] : []))
  return (text, start) => {
    if (!holdsInOrder(literals, text)) return undefined
    // What looks like a header may be the first columns of the product's own.
    return matchLine(steps, text, start) ?? (start > 0 ? matchLine(steps, text, 0) : undefined)
  }
}

type Walk = { readonly steps: readonly Step[]; readonly text: string; readonly pieces: Piece[]; tries: number }

const matchLine = (steps: readonly Step[], text: string, start: number): Match | undefined => {
  const pieces: Piece[] = []
  const behind = walk({ steps, text, pieces, tries: 0 }, 0, start)
  return behind < 0 ? undefined : { pieces, rest: text.slice(behind) }
}

/** Where the text goes on behind the last step; -1 where the text is another. */
const walk = (line: Walk, index: number, from: number): number => {
  const { steps, text, pieces } = line
  const step = steps[index]
  if (step === undefined) return from
  const { literal, name } = step
  if (!step.isHole) {
    const isThere = literal !== undefined && text.startsWith(literal, from)
    return isThere ? walk(line, index + 1, from + literal.length) : -1
  }
  if (step.isAny && literal === undefined) return text.length
  const isWord = !step.isAny && !step.isMessage
  // The line may go on behind the last piece.
  let end = literal !== undefined ? text.indexOf(literal, from) : step.isMessage ? text.length : endOfWord(text, from)
  // A piece that is no message is one word: where the text behind it stands further on, it is none.
  const blank = isWord && end >= 0 ? text.indexOf(' ', from) : -1
  if (blank >= 0 && end > blank && text.charCodeAt(blank + 1) !== 0x28 && !text.slice(from, blank).includes('('))
    return -1
  for (; end >= 0 && line.tries < mostTries; end = literal === undefined ? -1 : text.indexOf(literal, end + 1)) {
    line.tries++
    if (blank >= 0 && end > blank && isTooLong(text.slice(from, end))) return -1
    if (!step.isAny && end === from) continue
    if (name !== undefined) {
      const value = text.slice(from, end)
      if (!step.fits(value)) continue
      pieces.push([name, value])
    }
    // What stands behind a hole was found just now.
    const behind = literal === undefined ? walk(line, index + 1, end) : walk(line, index + 2, end + literal.length)
    if (behind >= 0) return behind
    if (name !== undefined) pieces.pop()
  }
  return -1
}

/** A piece is one word; only what an endpoint was translated to may stand behind it, in parentheses; a message is all that is left. */
const isTooLong = (value: string): boolean => !value.includes('(') || value.replace(/ ?\([^()]*\)/g, '').includes(' ')
const endOfWord = (text: string, from: number): number => {
  const blank = text.indexOf(' ', from)
  // Most words have no parentheses, neither within nor behind them.
  const word = text.slice(from, blank < 0 ? text.length : blank)
  if (!word.includes('(') && !word.includes('\t') && !word.includes(')') && text.charCodeAt(blank + 1) !== 0x28)
    return from + word.length
  return from + (/^(?:[^\s()]|\([^()]*\)?)*(?: \([^()]*\))?/.exec(text.slice(from))?.[0].length ?? 0)
}

/** Whether all of these stand in the text, one behind the other: tells most lines from a template without trying it. */
const holdsInOrder = (literals: readonly string[], text: string): boolean => {
  let at = 0
  for (const literal of literals) {
    at = text.indexOf(literal, at)
    if (at < 0) return false
    at += literal.length
  }
  return true
}
