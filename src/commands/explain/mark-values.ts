// Finds the values of an event in its text and marks them.
import { printable } from '../../domain/control-characters.js'
import type { Role, Sighting } from '../../domain/sighting.js'
import { scanTokens, type Token } from '../../pipeline/extract/tokens.js'

type Mark = {
  readonly start: number
  readonly end: number
  readonly as: Role | 'action'
  /** The value, which may be written differently in the text. */
  readonly value: string
}

const colours: Partial<Record<Mark['as'], number>> = { source: 33, destination: 36, action: 1 }
const otherColour = 35
const longestShown = 4000

/** In text order without overlaps; `saw` is the word that gave the action. */
export const marksOf = (text: string, sightings: readonly Sighting[], saw: string): readonly Mark[] => {
  const tokens: Token[] = []
  scanTokens(text, (token) => tokens.push(token) < 1024)
  const lower = text.toLowerCase()
  const marks = sightings.flatMap(({ value, role }): Mark[] => {
    const standing = tokens.filter((token) => token.value === value)
    const at = standing.length > 0 ? -1 : lower.indexOf(value)
    const places = at < 0 ? standing : [{ start: at, end: at + value.length }]
    return places.map(({ start, end }) => ({ start, end, as: role, value }))
  })
  const told = saw === '' ? -1 : lower.indexOf(saw.toLowerCase())
  if (told >= 0) marks.push({ start: told, end: told + saw.length, as: 'action', value: saw })
  let free = 0
  return marks.toSorted((a, b) => a.start - b.start).filter(({ start, end }) => start >= free && (free = end) > 0)
}

export const showMarked = (text: string, marks: readonly Mark[], isColoured: boolean): string => {
  const shown = printable(text.slice(0, longestShown))
  const more = text.length > longestShown ? '…' : ''
  if (!isColoured) return shown + more
  let out = ''
  let at = 0
  for (const { start, end, as } of marks) {
    if (end > shown.length) break
    out += `${shown.slice(at, start)}\u001b[${colours[as] ?? otherColour}m${shown.slice(start, end)}\u001b[0m`
    at = end
  }
  return out + shown.slice(at) + more
}

/** A mark with the words around it. */
export const wordsAround = (text: string, { start, end }: Mark): string => {
  const before = /(?:\S+\s+){0,2}\S*$/.exec(text.slice(Math.max(0, start - 40), start))?.[0] ?? ''
  const behind = /^\S{0,20}/.exec(text.slice(end))?.[0] ?? ''
  return (before + text.slice(start, end) + behind).trim()
}
