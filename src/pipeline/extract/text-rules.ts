// Decides the role of an address or a name in a sentence from the text before it: an ordered table of rules and the loop that walks it.
import type { Role } from '../../domain/sighting.js'
import { isDigit, isWord, setOf, table, words } from './characters.js'
import { foreignRole } from './languages.js'
import type { Token } from './tokens.js'
import { isInPath } from './url.js'

/** A role and the rule that gave it. */
export type Said = { readonly role: Role; readonly rule: string }

type TextRule = {
  readonly id: string
  /** The role if the texts around match, or a function that returns it. */
  readonly role: Role | ((before: string) => Role | undefined)
  /** Tested on at most 48 characters between the previous token and this one; a sticky expression looks back from their end. */
  readonly when?: RegExp
  /** A quicker first test that most texts fail: by the last character, and the last letter before separators. */
  readonly may?: (ending: Ending) => boolean
  /** Tested on the text after this token; sticky. */
  readonly after?: RegExp
  /** The role that the rule gives to the previous token. */
  readonly previous?: Role
  /** Applies only after a token in this role. */
  readonly behind?: Role
}

/** The end of the text before a token. */
type Ending = {
  readonly text: string
  readonly last: string
  /** The last letter before up to four blanks, brackets and signs, in lower case. */
  readonly letter: string
}
const separators = ' \t\u00a0:=(<["\''
const endingOf = (text: string): Ending => {
  let at = text.length - 1
  for (let count = 0; count < 4 && at >= 0 && separators.includes(text.charAt(at)); count++) at--
  return { text, last: text.charAt(text.length - 1), letter: text.charAt(at).toLowerCase() }
}
const endsInOneOf =
  (letters: string) =>
  ({ letter }: Ending): boolean =>
    letters.includes(letter)

/** Words that give a role; the nearest of the last few before a token counts. */
const clues = table<Role>(
  [
    'source',
    `from src source saddr client clientip srcip faddr remote peer attacker rhost initiator sender originator by login logout req scanner offender with
     sourceip srcaddr remoteip remoteaddr intruder originating between calling-station-id lease local-host
     von vom desde depuis de da dal van från с со от из`,
  ],
  [
    'destination',
    `to dst dest destination daddr server dstip target victim into against towards toward laddr upstream vserver vip backend serverip destip responder
     local master destinationip dstaddr localip localaddr service member node realserver rserver webserver nach naar vers para hacia на к до`,
  ],
  ['observer', 'nas-ip nas-ip-address'],
  ['translated', 'gaddr translated nat snat dnat mapped xlated natted'],
  ['query', 'query queried question lookup resolve resolving querying'],
  ['answer', 'answer resolved reply resolves'],
)

/**
 * `192.0.2.1:4711 -> 198.51.100.1`, `192.0.2.1/443 (198.51.100.9/443) to inside:198.51.100.1`. Each of the repeated parts begins with
 * a character of its own; parts that could match the same text would double the time with each repetition.
 */
const arrow =
  /^\]?(?:\/\d+|\.\d+|:[\w-]+|\([^()]{0,60}\)|\[[^[\]]{0,60}\]|\s)*(?:->|=>|-->|>(?=[\s\d[(<]|$)|→|<->|===|\.\.\.|to (?:[\w.-]{1,40}[:/])?$)|^:\d{1,5} - $|(?:->|=>|→)\s*$/
/** Ports, a protocol or nothing between two addresses: `192.0.2.1 4711 198.51.100.1 443`, `"192.0.2.1","","198.51.100.1"`. */
export const sideBySide =
  /^(?!, $)(?:[:/.]\d{1,5})?\]?(?:["']?[\s,;|^~`]["']?(?:(?:port )?\d{1,5}|-|n\/a|none|tcp|udp|icmp|(?:[\da-f]{2}[:-]){5}[\da-f]{2})?){0,3}["']?[\s,;|^~`]["'[]?$/i

const mayBeArrow = ({ text, last, letter }: Ending): boolean =>
  letter === 'o' ||
  letter === '-' ||
  last === ':' ||
  last === '/' ||
  text.includes('>') ||
  text.includes('...') ||
  text.includes('===') ||
  text.includes('→')

const rules: readonly TextRule[] = [
  { id: 'text:arrow', role: 'destination', may: mayBeArrow, when: arrow, previous: 'source' },
  // `User <alice> IP <192.0.2.1>`
  {
    id: 'text:user-ip',
    role: 'source',
    may: endsInOneOf('ps'),
    when: /(?<=\buser\b(?! with)[^.,;]{0,32}[^\w.,;-]ip(?:[ -]?address)?[\s:=<["']{1,3}|> IP <)/iy,
  },
  // Which of the two began is settled once all fields are read.
  {
    id: 'text:local',
    role: 'destination',
    may: endsInOneOf('lprst'),
    when: /(?<=(?<!\bfrom (?:the )?)\blocal(?:[ _-](?:host|endpoint)|[ _-]?(?:ip|addr|address))?[\s:=(<["']{1,4})/iy,
  },
  {
    id: 'text:remote',
    role: 'source',
    may: endsInOneOf('eprst'),
    when: /(?<=(?<!\bto (?:the |a )?)\bremote(?:[ _-]?(?:ip|addr|address|host|endpoint|peer))?[\s:=(<["']{1,4})/iy,
  },
  // `https(192.0.2.1)`: the way in, and the client's address.
  {
    id: 'text:way-in',
    role: 'source',
    may: ({ last }) => last === '(',
    when: /(?<=(?<![\w.])(?:gui|https?|ssh|telnet|web(?:ui)?|cli|api|console)\()/iy,
  },
  // `host mx.example.net[192.0.2.1] said: 550 …`, as the sending server writes it.
  { id: 'text:said', role: 'destination', after: /\]?(?::\d{1,5})? (?:said|refused to talk)\b/y },
  {
    id: 'text:served',
    role: 'destination',
    may: ({ last, letter }) => last === '[' || last === '(' || 'hr'.includes(letter),
    when: /(?<=\b(?:used TLS for|conversation with|lost connection with) [\w.-]{0,253}[[(]?)/iy,
  },
  // `H=mx.example.net [192.0.2.1]:40001 I=[198.51.100.7]:25`: the server's own interface.
  { id: 'text:interface', role: 'destination', may: ({ last }) => last === '[', when: /(?<=(?:^|\s)I=\[)/y },
  // `(helo.example.net) [192.0.2.1]`: the name the client gave itself, and its address.
  { id: 'text:helo', role: 'source', may: ({ last }) => last === '[', when: /^\]?\) \[$/, previous: 'claimed' },
  { id: 'text:word', role: (before) => roleOfWords(before) },
  {
    id: 'text:for',
    role: 'source',
    may: endsInOneOf('eprst'),
    when: /(?<=\b(?:fail(?:ed|ure|s)?|denied|rejected|blocked|locked(?: out)?|attempts?|exceeded) for (?:(?:the|ip|host|client|address)[ :]{1,2}){0,2}["'[(<]?)/iy,
  },
  { id: 'language:text', role: foreignRole },
  {
    id: 'text:and',
    role: 'destination',
    may: endsInOneOf('d'),
    when: /^(?:[:/#]\d{1,5})?(?:\[[^[\]]{0,60}\])? and $/,
    behind: 'source',
  },
  { id: 'text:beside-source', role: 'destination', when: sideBySide, behind: 'source' },
]

const roleOfWords = (given: string): Role | undefined => {
  const before = given.toLowerCase()
  let count = 0
  let part = partBefore(before, before.length)
  while (part.kind !== 'none' && count < 4) {
    const next = partBefore(before, part.start)
    // A full stop ends a sentence. A colon, a bracket or a closing quotation mark ends a clause.
    if (part.kind === 'stop' || (part.kind === 'sign' && count > 0)) return undefined
    if (part.kind === 'word') {
      const word = before.slice(part.start, part.end)
      const wordBefore = next.kind === 'word' ? before.slice(next.start, next.end) : ''
      const role =
        clues.get(word) ?? (word.includes('-') ? clues.get(word.replace(/-(?:ip|addr|address)$/, '')) : undefined)
      // `snat to 192.0.2.1`; `to peer 7 (192.0.2.1:51820)`: the direction outweighs the kind of endpoint.
      if (word === 'to' && clues.get(wordBefore) === 'translated') return 'translated'
      if (role === 'source' && wordBefore === 'to') return 'destination'
      if (word === 'to' && notWhereTo.has(wordBefore)) return whose.has(wordBefore) ? 'source' : undefined
      if (role !== undefined && (word !== 'with' || count === 0)) return role
      count++
    }
    part = next
  }
  return undefined
}
/** `due to`, `set to`: not every `to` comes before a destination. */
const whose = setOf('assigned allocated leased issued belongs belonging')
const notWhereTo = new Set([
  ...whose,
  ...words('due set according equal similar related attributed owing prior up changed'),
])
/** A part of the text before: a word, a number (also a memory address, `0x7f00`), the end of a sentence or of a clause. */
type Part = {
  readonly kind: 'word' | 'number' | 'stop' | 'sign' | 'none'
  readonly start: number
  readonly end: number
}

/** Lower-case Latin and Cyrillic letters, and the hyphen. */
const isWordLetter = (code: number): boolean =>
  (code >= 0x61 && code <= 0x7a) || code === 0x2d || code === 0xe5 || (code >= 0x430 && code <= 0x44f)
const isLatin = (code: number): boolean => code >= 0x61 && code <= 0x7a

/** The last part that ends at or before `end`. */
const partBefore = (text: string, end: number): Part => {
  for (let at = end - 1; at >= 0; at--) {
    const code = text.charCodeAt(at)
    if (isDigit(code)) return { kind: 'number', start: startOfNumber(text, at), end: at + 1 }
    if (isWordLetter(code)) {
      const until = at + 1
      while (at > 0 && isWordLetter(text.charCodeAt(at - 1))) at--
      const before = text.charCodeAt(at - 1)
      // `0x7f00`, `eth0_a`: letters after a digit belong to the number.
      const number = isLatin(text.charCodeAt(at)) && isWord(before) ? startOfNumber(text, at - 1) : -1
      if (number >= 0) return { kind: 'number', start: number, end: until }
      if (before !== 0x2e && !isCodeFile(text, until)) return { kind: 'word', start: at, end: until }
    } else if (code === 0x20 && at > 0) {
      const sign = text.charCodeAt(at - 1)
      if (sign === 0x2e) return { kind: 'stop', start: at - 1, end: at + 1 }
      if (sign === 0x3a) return { kind: 'sign', start: at - 1, end: at + 1 }
    } else if (code === 0x5d) return { kind: 'sign', start: at, end: at + 1 }
    else if (code === 0x22 && !isLatinOrHyphen(text.charCodeAt(at + 1))) return { kind: 'sign', start: at, end: at + 1 }
  }
  return { kind: 'none', start: 0, end: 0 }
}
const isLatinOrHyphen = (code: number): boolean => isLatin(code) || code === 0x2d
/** The first digit in the run of letters, digits and underscores that ends at `last`; -1 without one. */
const startOfNumber = (text: string, last: number): number => {
  let first = -1
  for (let at = last; at >= 0 && isWord(text.charCodeAt(at)); at--) if (isDigit(text.charCodeAt(at))) first = at
  return first
}
/** `server.go:12` is a file and not a word. */
const codeFile = /\.(?:go|py|js|ts|rb|rs|c|cc|cpp|java|php|lua|erl|cs|pl)\b/y
const isCodeFile = (text: string, end: number): boolean => {
  if (text.charCodeAt(end) !== 0x2e) return false
  codeFile.lastIndex = end
  return codeFile.test(text)
}

/** Brackets that describe the token before: `192.0.2.1:80 [203.0.113.1:22] ->`, `192.0.2.1/443 (198.51.100.1/443)`, `a.example[192.0.2.1]`. */
const opened = /^(?:[:/]\d{0,5})?\s?[[(]$/

/** An address in parentheses. No arrow follows, so neither end is translated. */
const ownEnd = /^\([\da-f.:]{3,45}[:/#]?\d{0,5}\)(?!\s?(?:->|=>|to ))/i
const portsDiffer = (one: Token, next: Token): boolean =>
  (one.port ?? 0) > 1023 && next.port !== undefined && next.port !== one.port

const isFor = (one: Said | undefined): boolean => one?.rule === 'text:for'

/** The role of each token, if it has one. */
export const rolesInText = (text: string, tokens: readonly Token[]): (Said | undefined)[] => {
  const said: (Said | undefined)[] = []
  let last = -1
  tokens.forEach((token, at) => {
    said.push(undefined)
    const previous = tokens[last]
    // A text that is only the token has no context.
    const isWhole = token.end - token.start === text.length
    if (token.kind === 'url' || token.kind === 'mail' || isWhole || isInPath(text, token.start)) {
      last = at
      return
    }
    const before = text.slice(Math.max(previous?.end ?? 0, token.start - 48), token.start)
    const previousRole = said[last]?.role
    if (previous !== undefined && previous.kind !== 'url' && opened.test(before)) {
      const isOther = previous.type === 'ip' && token.type === 'ip' && previous.value !== token.value
      // `192.0.2.1:40001 (198.51.100.7:22)`, `198.51.100.7 (192.0.2.1[192.0.2.1])`: the two ends.
      const isPeer = isOther && text.charCodeAt(token.end) === 0x5b
      const isOwn = isOther && portsDiffer(previous, token) && ownEnd.test(text.slice(token.start - 1, token.end + 12))
      if (previousRole === undefined && (isPeer || isOwn)) {
        said[last] = { role: isPeer ? 'destination' : 'source', rule: 'text:ends' }
        said[at] = { role: isPeer ? 'source' : 'destination', rule: 'text:ends' }
        last = at
        return
      }
      const role = isOther ? 'translated' : previousRole
      if (role !== undefined) said[at] = { role, rule: 'text:aside' }
      if (role !== undefined) return
    }
    const ending = endingOf(before)
    for (const { id, role, may, when, after, previous: first, behind } of rules) {
      if (behind !== undefined && (behind !== previousRole || previous?.value === token.value)) continue
      if (may?.(ending) === false || (first !== undefined && previous?.kind === 'mail')) continue
      if (when) when.lastIndex = before.length
      if (when?.test(before) === false) continue
      if (after) after.lastIndex = token.end
      if (after?.test(text) === false) continue
      const own = typeof role === 'string' ? role : role(before)
      if (own === undefined) continue
      // Only addresses are translated.
      if (token.type === 'ip' || own !== 'translated') said[at] = { role: own, rule: id }
      // An arrow outweighs a word earlier in the sentence: `ICMP Echo Reply 192.0.2.1 -> 198.51.100.1`.
      if (first !== undefined && last >= 0) said[last] = { role: first, rule: id }
      break
    }
    last = at
  })
  disown(text, tokens, said)
  // `failed for 198.51.100.7 from 192.0.2.1`: a client typed the first address as its user name.
  if (said.some(isFor) && said.some((one) => one?.role === 'source' && !isFor(one)))
    said.forEach((one, at) => {
      if (isFor(one)) said[at] = undefined
    })
  return said
}

/**
 * `user x from 192.0.2.1 port 22 from 198.51.100.7 port 40001`: the program wrote the last address outside quotation marks,
 * and the client wrote the others.
 */
const disown = (text: string, tokens: readonly Token[], said: (Said | undefined)[]): void => {
  const repeated: { readonly at: number; readonly isNumbered: boolean; readonly isQuoted: boolean }[] = []
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at]
    if (token?.kind !== 'address' || said[at]?.role !== 'source' || !isFrom(text, token.start)) continue
    const isNumbered = /^\S{0,2} port \d/.test(text.slice(token.end, token.end + 12))
    repeated.push({ at, isNumbered, isQuoted: isQuoted(text, token.start) })
  }
  const [forged] = repeated
  const next = forged && said[forged.at + 1]
  // `closed by invalid user from 192.0.2.1 198.51.100.7 port 40001`: the user's name ends in an address.
  if (repeated.length === 1 && forged?.isNumbered === false && next?.rule === 'text:beside-source') {
    const { end = 0 } = tokens[forged.at + 1] ?? {}
    if (!/^ port \d/.test(text.slice(end, end + 8))) return
    said[forged.at] = { role: 'claimed', rule: 'text:repeated' }
    said[forged.at + 1] = { role: 'source', rule: 'text:repeated' }
    return
  }
  if (repeated.length < 2 || repeated.length > mostRepeated) return
  const own = repeated.findLast((one) => !one.isQuoted) ?? repeated.at(-1)
  for (const one of repeated)
    if (one !== own && (one.isQuoted || (one.isNumbered && own?.isNumbered === true)))
      said[one.at] = { role: 'claimed', rule: 'text:repeated' }
}

/** Up to two signs may stand between the word and the address. */
const isFrom = (text: string, start: number): boolean =>
  / from \S{0,2}$/.test(text.slice(Math.max(0, start - 8), start))

/** More than this is a list. */
const mostRepeated = 8
const longestQuoted = 2048
const isQuoted = (text: string, at: number): boolean =>
  at < longestQuoted &&
  ['"', "'"].some((quote) => text.slice(0, at).split(quote).length % 2 === 0 && text.includes(quote, at))
