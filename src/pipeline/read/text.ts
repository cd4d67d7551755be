// Reads free text: finds its addresses and names; the words around them tell their roles.
import type { Role } from '../../domain/sighting.js'
import { decodePercent, refang, unescape } from './plain.js'
import type { Sightings } from './sightings.js'
import { assignRoles, type TextToken } from './text-roles.js'
import { scanTokens } from './token.js'

export type { TextToken } from './text-roles.js'

const maxTokens = 1024
const maxNames = 64

/** True where the text can hold nothing: no dot and no pair of colons. */
export const isPlain = (text: string): boolean => text.length < 4 || (!text.includes('.') && !text.includes(':'))

export const prepare = (text: string): string => {
  let plain = text
  if (plain.includes('\\')) plain = unescape(plain)
  if (plain.includes('%2') || plain.includes('%3')) plain = decodePercent(plain)
  return refang(plain)
}

/** The tokens of text that `prepare` made plain, each with the role its surroundings give it. */
export const tokensOf = (text: string, sightings: Sightings, isLine: boolean): TextToken[] => {
  const tokens: TextToken[] = []
  let names = 0
  scanTokens(text, (token) => {
    if (token.kind === 'name' && ++names > maxNames) {
      sightings.markTruncated()
      return true
    }
    tokens.push({ ...token, role: undefined })
    if (tokens.length < maxTokens) return true
    sightings.markTruncated()
    return false
  })
  assignRoles(text, tokens, isLine)
  return tokens
}

const ends: readonly Role[] = ['source', 'destination']
const isGuess = (token: TextToken): boolean => token.isGuess === true

export const addTokens = (tokens: readonly TextToken[], field: string, sightings: Sightings): void => {
  // What is guessed adds no second source or destination to those that fields and words told.
  const had = tokens.some(isGuess) ? ends.filter((role) => sightings.hasAddress(role)) : []
  for (const token of tokens) {
    const evidence =
      token.kind === 'name' ? 'text' : token.kind === 'address' && token.role === undefined ? 'text' : 'field'
    const isTold =
      isGuess(token) && token.role !== undefined && (sightings.isEnd(token.value) || had.includes(token.role))
    const role =
      token.kind === 'url' ? 'url' : token.kind === 'mail' ? 'mail' : isTold ? 'other' : (token.role ?? 'other')
    sightings.add(token.type, token.value, field, role, evidence, token.path)
  }
}

/** `isLine`: the text is a whole message, not the value of some field, so that places in it mean something. */
export const readText = (text: string, sightings: Sightings, isLine: boolean): readonly TextToken[] =>
  isPlain(text) ? none : tokensOf(prepare(text), sightings, isLine)

const none: readonly TextToken[] = []
