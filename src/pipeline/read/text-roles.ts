// Gives the addresses and names of free text their roles: by the words before each, by what stands before it, and where nothing does, by its place.
import { assignBracketed, assignByPlace, assignFirst, sideBySide } from './by-place.js'
import { assignOther } from './other-end.js'
import { arrow, failedFor, roleBetween, roleByVerb, type TextToken } from './clues.js'

export type { TextToken } from './clues.js'

export const assignRoles = (text: string, tokens: TextToken[], isLine: boolean): void => {
  let flows = 0
  let previous: TextToken | undefined
  let before: TextToken | undefined
  let hasClue = false
  let hasSource = false
  let hasGuess = false
  for (const token of tokens) {
    if (token.kind === 'url' || token.kind === 'mail') {
      before = previous
      previous = token
      continue
    }
    // `192.0.2.1:4711 [203.0.113.1:2268] -> 198.51.100.1:80`: what stands in brackets behind an end belongs to it.
    if (before && previous && isAside(text, before, previous, token)) {
      if (previous.type === 'ip') previous.role = 'translated'
      previous = before
    }
    const between = text.slice(Math.max(previous?.end ?? 0, token.start - 48), token.start)
    // `udp (192.0.2.1:37806 - 198.51.100.1:53)`
    if (previous?.kind === 'address' && dashed.test(between) && portBehind.test(text.slice(token.end, token.end + 7))) {
      previous.role = 'source'
      token.role = 'destination'
    } else if (previous?.kind === 'address' && asks.test(between)) {
      previous.role ??= 'source'
      token.role = token.type === 'domain' ? 'url' : 'destination'
    } else token.role = roleBetween(between, previous, hasSource)
    // `to 198.51.100.1 (bad.example.net)`: only addresses are translated, and a name behind one is its own.
    if (token.role === 'translated' && token.type === 'domain') token.role = previous?.role
    if (token.role === undefined && token.type === 'ip') {
      token.role = roleByVerb(text, between, token.end)
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
    // `established between 192.0.2.1[gw.example.com] and 198.51.100.1`
    if (token.role === undefined && previous?.role === 'source' && andNext.test(between) && isBetween(text, previous))
      token.role = 'destination'
    if (token.role !== undefined && token.kind === 'address') hasClue = true
    if (token.role === 'source' || previous?.role === 'source') hasSource = true
    before = previous
    previous = token
  }
  // `Can't find user [1001@198.51.100.1] from 192.0.2.1`: an account is named after where it is known, or is an address itself.
  if (hasGuess && tokens.some((token) => token.role === 'source' && token.isGuess !== true))
    for (const token of tokens) if (token.isGuess === true) token.role = undefined
  if (!isLine) return
  if (!hasClue) assignByPlace(text, tokens)
  else if (!hasSource) assignFirst(text, tokens)
  if (tokens.every((token) => token.role !== 'source')) assignBracketed(text, tokens)
  assignOther(text, tokens)
}

const isAside = (text: string, end: TextToken, aside: TextToken, next: TextToken): boolean => {
  const open = text.charCodeAt(aside.start - 1)
  if ((open !== 0x5b && open !== 0x28) || end.kind !== 'address' || aside.start - end.end > 9) return false
  if (!opening.test(text.slice(end.end, aside.start))) return false
  const behind = text.slice(aside.end, Math.min(next.start, aside.end + 24))
  return closing.test(behind)
}
const opening = /^(?:[:/#]\d{1,5})?\s?[[(]$/
/** What closes the brackets, and then the way to another: an arrow, or the second of two. */
const closing = /^(?:[:/#]\d{1,5})?[\])]\s{0,2}(?:<?[-=]{1,2}>|→|\.\.\.|and |to )/

const isBetween = (text: string, token: TextToken): boolean =>
  text
    .slice(Math.max(0, token.start - 9), token.start)
    .toLowerCase()
    .endsWith('between ')
const andNext = /^(?:[:/#]\d{1,5})?(?:\[[^[\]]{0,60}\])? and $/

/** `192.0.2.1:4711 CONNECT bad.example.net:443` */
const asks = /^(?::\d{1,5})? (?:CONNECT|GET|POST|HEAD|PUT) $/
const dashed = /^:\d{1,5} - $/
const portBehind = /^:\d{1,5}(?!\d)/

/** `192.0.2.1:4711 to 198.51.100.1` */
const toNext = /^(?:[:/]\d{1,5})? to $/
