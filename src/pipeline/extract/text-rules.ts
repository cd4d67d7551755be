// Tells from the text before an address or a name in a sentence which role it plays: an ordered table of rules, walked by one loop.
import type { Role } from '../../domain/sighting.js'
import { setOf, table, words } from './characters.js'
import { foreignRole } from './languages.js'
import type { Token } from './tokens.js'
import { isInPath } from './url.js'

/** A role and the rule that gave it. */
export type Said = { readonly role: Role; readonly rule: string }

type TextRule = {
  readonly id: string
  /** The role, where the texts around match; or a function that tells it. */
  readonly role: Role | ((before: string) => Role | undefined)
  /** Held against at most 48 characters, from the token before to this one; one that looks back from their end is sticky. */
  readonly when?: RegExp
  /** Held against what is behind this token; sticky. */
  readonly after?: RegExp
  /** What the rule says of the token before, where nothing was said of it. */
  readonly previous?: Role
  /** Only behind a token in this role. */
  readonly behind?: Role
}

/** What the nearest of the last few words before says. */
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
 * `192.0.2.1:4711 -> 198.51.100.1`, `192.0.2.1/443 (198.51.100.9/443) to inside:198.51.100.1`. Each of the repeated parts begins with a character of
 * its own: where two could match the same, time doubles with each.
 */
const arrow =
  /^\]?(?:\/\d+|\.\d+|:[\w-]+|\([^()]{0,60}\)|\[[^[\]]{0,60}\]|\s)*(?:->|=>|-->|>(?=[\s\d[(<]|$)|→|<->|===|\.\.\.|to (?:[\w.-]{1,40}[:/])?$)|^:\d{1,5} - $|(?:->|=>|→)\s*$/
/** Ports, a protocol or nothing between two addresses: `192.0.2.1 4711 198.51.100.1 443`, `"192.0.2.1","","198.51.100.1"`. */
export const sideBySide =
  /^(?!, $)(?:[:/.]\d{1,5})?\]?(?:["']?[\s,;|^~`]["']?(?:(?:port )?\d{1,5}|-|n\/a|none|tcp|udp|icmp|(?:[\da-f]{2}[:-]){5}[\da-f]{2})?){0,3}["']?[\s,;|^~`]["'[]?$/i

const rules: readonly TextRule[] = [
  { id: 'text:arrow', role: 'destination', when: arrow, previous: 'source' },
  // `User <alice> IP <192.0.2.1>`
  {
    id: 'text:user-ip',
    role: 'source',
    when: /(?<=\buser\b(?! with)[^.,;]{0,32}[^\w.,;-]ip(?:[ -]?address)?[\s:=<["']{1,3}|> IP <)/iy,
  },
  // Which of the two began is settled when all is read.
  {
    id: 'text:local',
    role: 'destination',
    when: /(?<=(?<!\bfrom (?:the )?)\blocal(?:[ _-](?:host|endpoint)|[ _-]?(?:ip|addr|address))?[\s:=(<["']{1,4})/iy,
  },
  {
    id: 'text:remote',
    role: 'source',
    when: /(?<=(?<!\bto (?:the |a )?)\bremote(?:[ _-]?(?:ip|addr|address|host|endpoint|peer))?[\s:=(<["']{1,4})/iy,
  },
  // `https(192.0.2.1)`: how somebody came in, and from where.
  {
    id: 'text:way-in',
    role: 'source',
    when: /(?<=(?<![\w.])(?:gui|https?|ssh|telnet|web(?:ui)?|cli|api|console)\()/iy,
  },
  // `host mx.example.net[192.0.2.1] said: 550 …`, as the server that sends writes it.
  { id: 'text:said', role: 'destination', after: /\]?(?::\d{1,5})? (?:said|refused to talk)\b/y },
  {
    id: 'text:served',
    role: 'destination',
    when: /(?<=\b(?:used TLS for|conversation with|lost connection with) [\w.-]{0,253}[[(]?)/iy,
  },
  // `H=mx.example.net [192.0.2.1]:40001 I=[198.51.100.7]:25`: the interface of the server itself.
  { id: 'text:interface', role: 'destination', when: /(?<=(?:^|\s)I=\[)/y },
  // `(helo.example.net) [192.0.2.1]`: what the client called itself, and what it is.
  { id: 'text:helo', role: 'source', when: /^\]?\) \[$/, previous: 'claimed' },
  { id: 'text:word', role: (before) => roleOfWords(before) },
  {
    id: 'text:for',
    role: 'source',
    when: /(?<=\b(?:fail(?:ed|ure|s)?|denied|rejected|blocked|locked(?: out)?|attempts?|exceeded) for (?:(?:the|ip|host|client|address)[ :]{1,2}){0,2}["'[(<]?)/iy,
  },
  { id: 'language:text', role: foreignRole },
  { id: 'text:and', role: 'destination', when: /^(?:[:/#]\d{1,5})?(?:\[[^[\]]{0,60}\])? and $/, behind: 'source' },
  { id: 'text:beside-source', role: 'destination', when: sideBySide, behind: 'source' },
]

const roleOfWords = (before: string): Role | undefined => {
  const found = before.toLowerCase().match(wordOrEnd) ?? []
  let count = 0
  for (let at = found.length - 1; at >= 0 && count < 4; at--) {
    const word = found[at] ?? ''
    // What a full stop ends is another sentence.
    if (word === '. ') return undefined
    // A number, or an address of memory (`client @0x7f00 192.0.2.1`), is no word.
    if (/^\d/.test(word)) continue
    if (!/[a-zа-я-]/.test(word)) {
      // What a colon, a bracket or a closing quotation mark ends, with a word behind it, was about something else.
      if (count > 0) return undefined
      continue
    }
    const role = clues.get(word) ?? clues.get(word.replace(/-(?:ip|addr|address)$/, ''))
    const next = found[at - 1] ?? ''
    // `snat to 192.0.2.1`; `to peer 7 (192.0.2.1:51820)`: which way it went says more than who it is.
    if (word === 'to' && clues.get(next) === 'translated') return 'translated'
    if (role === 'source' && next === 'to') return 'destination'
    if (word === 'to' && notWhereTo.has(next)) return whose.has(next) ? 'source' : undefined
    if (role !== undefined && (word !== 'with' || count === 0)) return role
    count++
  }
  return undefined
}
/** `due to`, `set to`: not every `to` is followed by where something went. */
const whose = setOf('assigned allocated leased issued belongs belonging')
const notWhereTo = new Set([
  ...whose,
  ...words('due set according equal similar related attributed owing prior up changed'),
])
/** A word, unless it is the name of a file with code in it (`server.go:12`); a number; and what ends a part of the sentence. */
const wordOrEnd =
  /(?<![.a-zа-яå-])[a-zа-яå-]+(?![a-zа-яå-]|\.(?:go|py|js|ts|rb|rs|c|cc|cpp|java|php|lua|erl|cs|pl)\b)|\d\w*|: |\. |\]|"(?![a-z-])/g

/** `192.0.2.1:4711 [203.0.113.1:2268] ->`, `outside:192.0.2.1/443 (198.51.100.1/443)`, `host.example.com[192.0.2.1]`: said of the one before. */
const opened = /^(?:[:/]\d{0,5})?\s?[[(]$/

/** In parentheses, and none of the two ends is translated: no arrow follows. */
const ownEnd = /^\([\da-f.:]{3,45}[:/#]?\d{0,5}\)(?!\s?(?:->|=>|to ))/i
const portsDiffer = (one: Token, next: Token): boolean =>
  (one.port ?? 0) > 1023 && next.port !== undefined && next.port !== one.port

/** One role, or none, for each token. */
export const rolesInText = (text: string, tokens: readonly Token[]): (Said | undefined)[] => {
  const said: (Said | undefined)[] = []
  let last = -1
  tokens.forEach((token, at) => {
    said.push(undefined)
    const previous = tokens[last]
    // Of a text that is nothing but the token, nothing around it tells anything.
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
    for (const { id, role, when, after, previous: first, behind } of rules) {
      if (behind !== undefined && (behind !== previousRole || previous?.value === token.value)) continue
      if (first !== undefined && previous?.kind === 'mail') continue
      if (when) when.lastIndex = before.length
      if (when?.test(before) === false) continue
      if (after) after.lastIndex = token.end
      if (after?.test(text) === false) continue
      const own = typeof role === 'string' ? role : role(before)
      if (own === undefined) continue
      // Only addresses are translated.
      if (token.type === 'ip' || own !== 'translated') said[at] = { role: own, rule: id }
      // An arrow says more than a word in the sentence before: `ICMP Echo Reply 192.0.2.1 -> 198.51.100.1`.
      if (first !== undefined && last >= 0) said[last] = { role: first, rule: id }
      break
    }
    last = at
  })
  disown(text, tokens, said)
  // `failed for 198.51.100.7 from 192.0.2.1`: somebody took an address for a name.
  if (said.some((one) => one?.role === 'source' && one.rule !== 'text:for'))
    said.forEach((one, at) => {
      if (one?.rule === 'text:for') said[at] = undefined
    })
  return said
}

/** `user x from 192.0.2.1 port 22 from 198.51.100.7 port 40001`: the program wrote the last one outside quotation marks, and the client the others. */
const disown = (text: string, tokens: readonly Token[], said: (Said | undefined)[]): void => {
  const repeated = tokens.flatMap(({ kind, start, end }, at) =>
    kind === 'address' &&
    said[at]?.role === 'source' &&
    / from \S{0,2}$/.test(text.slice(Math.max(0, start - 8), start))
      ? [{ at, isNumbered: /^\S{0,2} port \d/.test(text.slice(end, end + 12)), isQuoted: isQuoted(text, start) }]
      : [],
  )
  const [forged] = repeated
  const next = forged && said[forged.at + 1]
  // `closed by invalid user from 192.0.2.1 198.51.100.7 port 40001`: the name of the user ends in an address.
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

/** More are a list. */
const mostRepeated = 8
const longestQuoted = 2048
const isQuoted = (text: string, at: number): boolean =>
  at < longestQuoted &&
  ['"', "'"].some((quote) => text.slice(0, at).split(quote).length % 2 === 0 && text.includes(quote, at))
