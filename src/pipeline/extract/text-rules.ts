// Tells from the text before an address or a name in a sentence which role it plays: an ordered table of rules, walked by one loop.
import type { Role } from '../../domain/sighting.js'
import { table } from './characters.js'
import { foreignRole } from './languages.js'
import type { Token } from './tokens.js'

/** A role and the rule that gave it. */
export type Said = { readonly role: Role; readonly rule: string }

type TextRule = {
  readonly id: string
  /** The role, where the text before matches; or a function that tells it. */
  readonly role: Role | ((before: string) => Role | undefined)
  /** Held against at most 48 characters, from the token before to this one; one that looks back from their end is sticky. */
  readonly when?: RegExp
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
  { id: 'text:word', role: (before) => roleOfWords(before) },
  { id: 'language:text', role: foreignRole },
  { id: 'text:and', role: 'destination', when: /^(?:[:/#]\d{1,5})?(?:\[[^[\]]{0,60}\])? and $/, behind: 'source' },
  { id: 'text:beside-source', role: 'destination', when: sideBySide, behind: 'source' },
]

const roleOfWords = (before: string): Role | undefined => {
  const found = before.toLowerCase().match(wordOrEnd) ?? []
  let count = 0
  for (let at = found.length - 1; at >= 0 && count < 4; at--) {
    const word = found[at] ?? ''
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
    if (role !== undefined && (word !== 'with' || count === 0)) return role
    count++
  }
  return undefined
}
const wordOrEnd = /(?<!\.)[a-zа-яå-]+|\d\w*|: |\]|"(?![a-z-])/g

/** `192.0.2.1:4711 [203.0.113.1:2268] ->`, `outside:192.0.2.1/443 (198.51.100.1/443)`, `host.example.com[192.0.2.1]`: said of the one before. */
const opened = /^(?:[:/]\d{0,5})?\s?[[(]$/

/** One role, or none, for each token. */
export const rolesInText = (text: string, tokens: readonly Token[]): (Said | undefined)[] => {
  const said: (Said | undefined)[] = []
  let last = -1
  tokens.forEach((token, at) => {
    said.push(undefined)
    const previous = tokens[last]
    // Of a text that is nothing but the token, nothing around it tells anything.
    if (token.kind === 'url' || token.kind === 'mail' || token.end - token.start === text.length) {
      last = at
      return
    }
    const before = text.slice(Math.max(previous?.end ?? 0, token.start - 48), token.start)
    const previousRole = said[last]?.role
    if (previous !== undefined && previous.kind !== 'url' && opened.test(before)) {
      const isOther = previous.type === 'ip' && token.type === 'ip' && previous.value !== token.value
      const role = isOther ? 'translated' : previousRole
      if (role !== undefined) said[at] = { role, rule: 'text:aside' }
      if (role !== undefined) return
    }
    for (const { id, role, when, previous: first, behind } of rules) {
      if (behind !== undefined && (behind !== previousRole || previous?.value === token.value)) continue
      if (first !== undefined && previous?.kind === 'mail') continue
      if (when) when.lastIndex = before.length
      if (when?.test(before) === false) continue
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
  return said
}
