// Gives the addresses and names of free text their roles: by the words before each, by what stands before it, and by its place.
import { arrow, roleBetween, roleByVerb, type TextToken } from './clues.js'

export type { TextToken } from './clues.js'

export const assignRoles = (text: string, tokens: TextToken[], isLine: boolean): void => {
  let flows = 0
  let previous: TextToken | undefined
  let hasClue = false
  let hasSource = false
  for (const token of tokens) {
    if (token.kind === 'url' || token.kind === 'mail') {
      previous = token
      continue
    }
    const between = text.slice(Math.max(previous?.end ?? 0, token.start - 48), token.start)
    token.role =
      roleBetween(between, previous, hasSource) ??
      (token.type === 'ip' ? roleByVerb(between, text.charCodeAt(token.end)) : undefined)
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
    if (token.role !== undefined) hasClue = true
    if (token.role === 'source' || previous?.role === 'source') hasSource = true
    previous = token
  }
  if (!isLine) return
  if (!hasClue) assignByPlace(text, tokens)
  if (tokens.every((token) => token.role !== 'source')) assignBracketed(text, tokens)
}

/** Ports, or nothing, between two addresses: `192.0.2.1 4711 198.51.100.1 443`. */
const sideBySide = /^(?:[:/.]\d{1,5})?["'\]]?(?:[ \t,;|]|[\s,]+\d{1,5}[\s,]+)["'[]?$/
/** `192.0.2.1:4711 to 198.51.100.1` */
const toNext = /^(?:[:/]\d{1,5})? to $/

/** `- [192.0.2.1] alice(Realm)[Role] - …`, `sql(alice,192.0.2.1): …`, `through ssh (192.0.2.1)`: an address alone in brackets is who did it. */
const assignBracketed = (text: string, tokens: readonly TextToken[]): void => {
  for (const token of tokens) {
    if (token.role !== undefined || token.kind !== 'address') continue
    const close = text.charCodeAt(token.end)
    if (
      close === 0x20 &&
      text.charCodeAt(token.start - 1) === 0x22 &&
      withUser.test(text.slice(token.end, token.end + 66))
    ) {
      token.role = 'source'
      return
    }
    if (
      close === 0x29 ? !opensWithUser(text, token.start) : close !== 0x5d || text.charCodeAt(token.start - 1) !== 0x5b
    )
      continue
    if (close === 0x5d && text.charCodeAt(token.end + 1) === 0x3a) continue
    token.role = 'source'
    return
  }
}

/** Alone in parentheses, or behind a user and a comma. */
const opensWithUser = (text: string, start: number): boolean => {
  const before = text.charCodeAt(start - 1)
  return before === 0x28 || (before === 0x2c && userBefore.test(text.slice(Math.max(0, start - 100), start)))
}
/** `"192.0.2.1 alice"` */
const withUser = /^ [^\s"]{1,64}"/
const userBefore = /\([^\s(),]{1,90},$/

const longestGap = 2048
const portBehind = /^[: ]\d{4,5}(?![\w.:/-])/

/** One blank between the two and no more. */
const isNextTo = (text: string, address: TextToken, url: TextToken): boolean => {
  const between = url.start < address.start ? text.slice(url.end, address.start) : text.slice(address.end, url.start)
  if (between.length > longestGap) return false
  const blank = between.indexOf(' ')
  return blank >= 0 && blank === between.lastIndexOf(' ')
}

/** Without a word to go by: two addresses side by side are source and destination, one at the start is who did it. */
const assignByPlace = (text: string, tokens: readonly TextToken[]): void => {
  const addresses = tokens.filter((token) => token.kind === 'address')
  for (let at = 0; at + 1 < addresses.length; at++) {
    const first = addresses[at]
    const second = addresses[at + 1]
    if (!first || !second) return
    if (sideBySide.test(text.slice(first.end, second.start))) {
      first.role = 'source'
      second.role = 'destination'
      return
    }
  }
  const [only] = addresses
  // `AUDIT alice GUI 192.0.2.1 40001 CONFIG …`: one that has a port is an end of a connection.
  if (only && portBehind.test(text.slice(only.end, only.end + 8))) {
    only.role = 'source'
    return
  }
  // `2023.3.2 10:11:40 alice 192.0.2.1 https://www.example.com *DENIED*`: who asked for it.
  if (only && addresses.length === 1 && tokens.some((token) => token.kind === 'url' && isNextTo(text, only, token))) {
    only.role = 'source'
    return
  }
  if (
    only &&
    only.start < 80 &&
    /^[\s["'(]*(?:(?:ip|host|client|address) |[\w.@-]{1,64}\/)?$/i.test(text.slice(0, only.start))
  )
    only.role = 'source'
}
