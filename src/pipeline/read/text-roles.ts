// Gives the addresses and names of free text their roles: by the words before each, by what stands before it, and where nothing does, by its place.
import { assignBracketed, assignByPlace, assignFirst, sideBySide } from './by-place.js'
import { arrow, failedFor, roleBetween, roleByVerb, type TextToken } from './clues.js'

export type { TextToken } from './clues.js'

export const assignRoles = (text: string, tokens: TextToken[], isLine: boolean): void => {
  let flows = 0
  let previous: TextToken | undefined
  let hasClue = false
  let hasSource = false
  let hasGuess = false
  for (const token of tokens) {
    if (token.kind === 'url' || token.kind === 'mail') {
      previous = token
      continue
    }
    const between = text.slice(Math.max(previous?.end ?? 0, token.start - 48), token.start)
    token.role = roleBetween(between, previous, hasSource)
    if (token.role === undefined && token.type === 'ip') {
      token.role = roleByVerb(between, text.charCodeAt(token.end))
      if (token.role === 'source' && (between.endsWith('@') || failedFor.test(between))) hasGuess = token.isGuess = true
    }
    // `host.example.com[192.0.2.1]`: a peer, by the name its address has.
    if (
      token.role === undefined &&
      between === '[' &&
      previous &&
      (previous.type === 'domain' || previous.value === token.value) &&
      text.charCodeAt(token.end) === 0x5d
    ) {
      token.role = previous.role ?? 'source'
      previous.role = token.role
    }
    // A flow told again is what it was translated to: `192.0.2.1/80->203.0.113.1/443 … 198.51.100.1/80->203.0.113.1/443`.
    if (previous && token.role === 'destination' && previous.role === 'source' && arrow.test(between) && ++flows > 1) {
      previous.role = 'translated'
      token.role = 'translated'
    }
    if (
      isLine &&
      token.role === undefined &&
      token.kind === 'address' &&
      previous?.kind === 'address' &&
      previous.role === 'source' &&
      previous.value !== token.value &&
      sideBySide.test(between)
    )
      token.role = 'destination'
    if (
      token.role === 'destination' &&
      previous?.kind === 'address' &&
      previous.role === undefined &&
      toNext.test(between)
    )
      previous.role = 'source'
    if (token.role !== undefined && token.kind === 'address') hasClue = true
    if (token.role === 'source' || previous?.role === 'source') hasSource = true
    previous = token
  }
  // `Can't find user [1001@198.51.100.1] from 192.0.2.1`: an account is named after where it is known, or is an address itself.
  if (hasGuess && tokens.some((token) => token.role === 'source' && token.isGuess !== true))
    for (const token of tokens) if (token.isGuess === true) token.role = undefined
  if (!isLine) return
  if (!hasClue) assignByPlace(text, tokens)
  else if (!hasSource) assignFirst(text, tokens)
  if (tokens.every((token) => token.role !== 'source')) assignBracketed(text, tokens)
}

/** `192.0.2.1:4711 to 198.51.100.1` */
const toNext = /^(?:[:/]\d{1,5})? to $/
