// Reads free text: finds its addresses and names and tells their roles from the words around them.
import type { Role } from '../../domain/sighting.js'
import { decodePercent, refang, unescape } from './plain.js'
import type { Sightings } from './sightings.js'
import { scanTokens, type Token } from './token.js'

const maxTokens = 1024
const maxNames = 64

const words = (list: string): readonly string[] => list.trim().split(/\s+/)
const clues = new Map<string, Role>([
  ...words(
    'from src source saddr client clientip srcip faddr remote peer attacker rhost initiator sender originator by login scanner offender sourceip srcaddr sourceaddress sourceipaddress remoteip remoteaddr remoteaddress',
  ).map((word): [string, Role] => [word, 'source']),
  ...words(
    'to dst dest destination daddr server dstip target victim into against towards toward laddr upstream vserver vserverip vserverserviceip serverip destip responder local destinationip dstaddr destaddr destinationaddress destinationipaddress localip localaddr localaddress',
  ).map((word): [string, Role] => [word, 'destination']),
  ...words('gaddr translated nat snat dnat mapped xlated natted').map((word): [string, Role] => [word, 'translated']),
  ...words('query queried question lookup resolve resolving querying').map((word): [string, Role] => [word, 'query']),
  ...words('answer resolved reply resolves is').map((word): [string, Role] => [word, 'answer']),
])

export type TextToken = Token & { role: Role | undefined }

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

export const addTokens = (tokens: readonly TextToken[], field: string, sightings: Sightings): void => {
  for (const token of tokens) {
    const evidence =
      token.kind === 'name' ? 'text' : token.kind === 'address' && token.role === undefined ? 'text' : 'field'
    const role = token.kind === 'url' ? 'url' : token.kind === 'mail' ? 'mail' : (token.role ?? 'other')
    sightings.add(token.type, token.value, field, role, evidence)
  }
}

/** `isLine`: the text is a whole message, not the value of some field, so that places in it mean something. */
export const readText = (text: string, sightings: Sightings, isLine: boolean): readonly TextToken[] =>
  isPlain(text) ? none : tokensOf(prepare(text), sightings, isLine)

const none: readonly TextToken[] = []

const assignRoles = (text: string, tokens: TextToken[], isLine: boolean): void => {
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
    token.role = roleBetween(between, previous, hasSource) ?? (token.type === 'ip' ? roleByVerb(between) : undefined)
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

/** Each of the repeated parts begins with a character of its own: where two could match the same, time doubles with each. */
const arrow = /^\]?(?:\/\d+|\.\d+|:[\w-]+|\([^()]{0,40}\)|\[[^[\]]{0,60}\]|\s)*(?:->|=>|-->|>(?!['"])|→|<->|===|\.\.\.)/
/** `192.0.2.1(53) GigabitEthernet0/1-> `, or a source that is no address: `:: -> `. */
const pointed = /(?:->|=>|→)\s*$/
/** Ports, or nothing, between two addresses: `192.0.2.1 4711 198.51.100.1 443`. */
const sideBySide = /^(?:[:/.]\d{1,5})?["'\]]?(?:[ \t,;|]|[\s,]+\d{1,5}[\s,]+)["'[]?$/
/** `192.0.2.1:4711 to 198.51.100.1` */
const toNext = /^(?:[:/]\d{1,5})? to $/
const opened = /^[:/]?\d*\s*\($/
const listed = /^(?:[:/]\d+)?[\s"']*[,;][\s"']*$/

const roleBetween = (between: string, previous: TextToken | undefined, hasSource: boolean): Role | undefined => {
  if (previous) {
    if (between === ', ' || between === ',') return previous.role
    if (arrow.test(between) || pointed.test(between)) {
      // An arrow says more than a word in the sentence before: `ICMP Echo Reply 192.0.2.1 -> 198.51.100.1`.
      if (previous.role !== 'source' && (previous.role !== 'destination' || !hasSource)) previous.role = 'source'
      return 'destination'
    }
    if (between === ' [') return previous.role
    if (opened.test(between)) return previous.type === 'ip' ? 'translated' : previous.role
    if (listed.test(between)) return previous.role
  } else if (pointed.test(between)) return 'destination'
  // The last few words before, the nearest first.
  let to = between.length
  for (let count = 0; count < 4 && to > 0; count++) {
    while (to > 0 && !isClueCode(between.charCodeAt(to - 1))) {
      to--
      // Words that end with a quotation mark, with others behind them, are the name of something: `"Source Port Zero" TCP 192.0.2.1`.
      if (count > 0 && between.charCodeAt(to) === 0x22 && !isClueCode(between.charCodeAt(to + 1))) return undefined
    }
    let from = to
    while (from > 0 && isClueCode(between.charCodeAt(from - 1))) from--
    if (from === to) return undefined
    const word = between.slice(from, to).toLowerCase()
    // `Unable to negotiate with 192.0.2.1`, but not `user with IP 192.0.2.1`.
    const role = count === 0 && word === 'with' ? 'source' : clues.get(word)
    // `snat to 192.0.2.1`, `was DNAT'ed to 192.0.2.1`
    if (role === 'destination' && between.charCodeAt(from) === 0x74 && translates.test(between.slice(0, to)))
      return 'translated'
    if (role) return role
    to = from
  }
  return undefined
}

const translates = /\b(?:[sd]?nat(?:'?t?ed)?|translated|mapped) to$/i
/** Whoever was shut out, and the words of Chinese products for the two ends. */
const shutOut = /\b(?:ban(?:ned)?|block(?:ed|ing)?(?: host| ip| source| address)?)[\s:]{1,3}$/i
const failedFor = /\bfail(?:ed|ure) for ['"]?$/i
/** `User <alice> IP <192.0.2.1>` */
const userIp = /\buser\b(?! with)[^.,;]{0,32}[^\w.,;]ip(?:[ -]?address)?[\s:=<["']{1,3}$/i
const wideClue = /(源|目的|目标)[^,;\s]{0,12}$/

/** `'root'@'192.0.2.1'`, `(alice@192.0.2.1)`, `alice@sales 192.0.2.1(4711)`: where a user came from. */
const userAt = /@'$|(?:^|[\s([])[\w?.-]{1,40}@$|\w@[\w-]{1,63} $/

const roleByVerb = (between: string): Role | undefined => {
  if (between.includes('@') && userAt.test(between)) return 'source'
  if (shutOut.test(between) || failedFor.test(between) || userIp.test(between)) return 'source'
  const wide = wideClue.exec(between)
  return wide ? (wide[1] === '源' ? 'source' : 'destination') : undefined
}

const isClueCode = (code: number): boolean => ((code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a) || code === 0x2d

/** `- [192.0.2.1] alice(Realm)[Role] - …`, `sql(alice,192.0.2.1): …`, `through ssh (192.0.2.1)`: an address alone in brackets is who did it. */
const assignBracketed = (text: string, tokens: readonly TextToken[]): void => {
  for (const token of tokens) {
    if (token.role !== undefined || token.kind !== 'address') continue
    const close = text.charCodeAt(token.end)
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
const userBefore = /\([^\s(),]{1,90},$/

const longestGap = 2048

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
