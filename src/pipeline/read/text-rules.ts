// Tells from the text before an address or a name in a sentence which role it plays: an ordered table of rules, walked by one loop.
import type { Role } from '../../domain/sighting.js'
import { table } from './characters.js'
import { foreignRole } from './languages.js'
import type { Token } from './tokens.js'

/** A role and the rule that gave it. A guess counts only where no field or format told the same endpoint. */
export type Said = { readonly role: Role; readonly rule: string; readonly isGuess?: boolean }

type Around = { readonly text: string; readonly token: Token; readonly before: string; readonly previousRole?: Role }
type TextRule = {
  readonly id: string
  /** The role, where the text before matches; or a function that tells it. */
  readonly role: Role | ((around: Around) => Role | undefined)
  /** Held against at most 48 characters, from the token before to this one; one that looks back from their end is sticky. */
  readonly when?: RegExp
  /** What the rule says of the token before, where nothing was said of it; it must be an address then. */
  readonly previous?: Role
  /** Only behind a token in this role. */
  readonly behind?: Role
  readonly isGuess?: boolean
}

/** What the nearest of the last few words before says. */
const clues = table<Role>(
  [
    'source',
    `from src source saddr client clientip srcip faddr remote peer attacker rhost initiator sender originator by login logout req scanner offender with
     sourceip srcaddr sourceaddress sourceipaddress remoteip remoteaddr remoteaddress intruder originating between calling-station-id x-forwarded-for lease local-host`,
  ],
  [
    'destination',
    `to dst dest destination daddr server dstip target victim into against towards toward laddr upstream vserver vip backend vserverip vserverserviceip
     serverip destip responder local master destinationip dstaddr destaddr destinationaddress destinationipaddress localip localaddr localaddress
     service member node realserver rserver webserver`,
  ],
  ['observer', 'nas-ip nas-ip-address'],
  ['translated', 'gaddr translated nat snat dnat mapped xlated natted'],
  ['query', 'query queried question lookup resolve resolving querying'],
  ['answer', 'answer resolved reply resolves'],
)

/** Each of the repeated parts begins with a character of its own: where two could match the same, time doubles with each. */
const arrow =
  /^\]?(?:\/\d+|\.\d+|:[\w-]+|\([^()]{0,40}\)|\[[^[\]]{0,60}\]|\s)*(?:->|=>|-->|>(?=[\s\d[(<]|$)|→|<->|===|\.\.\.)|^:\d{1,5} - $|(?:->|=>|→)\s*$/
/** Ports, or nothing, between two addresses: `192.0.2.1 4711 198.51.100.1 443`, `192.0.2.1 port 4711 198.51.100.1 port 443`. */
export const sideBySide = /^(?:[:/.]\d{1,5})?["'\]]?(?:[ \t,;|]|[\s,]+(?:port )?\d{1,5}[\s,]+)["'[]?$/

const rules: readonly TextRule[] = [
  { id: 'text:arrow', role: 'destination', when: arrow, previous: 'source' },
  { id: 'text:list', role: ({ previousRole }) => previousRole, when: /^(?:[:/]\d+)?[\s"']*[,;][\s"']*$/ },
  { id: 'text:record', role: 'answer', when: /(?<= IN (?:A|AAAA|CNAME|PTR) )/y },
  // `Connected to the primary log server at 192.0.2.1`: what is there is less than which way it went.
  { id: 'text:at', role: 'source', when: /(?<=\bfrom (?:(?!from |to )[\w'/"()-]{1,24} ){1,6}at )/iy },
  { id: 'text:at', role: 'destination', when: /(?<=\bto (?:(?!from |to )[\w'/"()-]{1,24} ){1,6}at )/iy },
  // `192.0.2.1:4711 to 198.51.100.1`, `outside:192.0.2.1/443 (198.51.100.9/443) to inside:198.51.100.1`
  {
    id: 'text:to',
    role: 'destination',
    when: /^(?:[:/]\d{1,5})?(?:\s?\([^()]{0,60}\)){0,3}(?: [\w.-]{1,24})? to (?:[\w.-]{1,40}[:/])?$/,
    previous: 'source',
  },
  // `martian source 198.51.100.1 from 192.0.2.1`: who came stands behind where it went.
  { id: 'text:from', role: 'source', when: /^ from $/, previous: 'destination' },
  // `User <alice> IP <192.0.2.1>`
  {
    id: 'text:user-ip',
    role: 'source',
    when: /(?<=\buser\b(?! with)[^.,;]{0,32}[^\w.,;-]ip(?:[ -]?address)?[\s:=<["']{1,3}|> IP <)/iy,
  },
  // `'root'@'192.0.2.1'`, `(alice@192.0.2.1)`, `alice@sales 192.0.2.1(4711)`, `DOMAIN\alice@192.0.2.1`: where a user came from.
  {
    id: 'text:user-at',
    role: 'source',
    when: /(?<=@'|(?:^|[\s([,\\])[\w?.$-]{1,64}@|\w@[\w-]{1,63} )/y,
    isGuess: true,
  },
  { id: 'text:word', role: ({ before }) => roleOfWords(before) },
  // Whoever was shut out, or failed.
  {
    id: 'text:shut-out',
    role: 'source',
    when: /(?<=\b(?:fail(?:ed|ure) for|ban(?:ned)?|block(?:ed|ing)?(?: host| ip| source| address)?)[\s:'"]{1,3})/iy,
    isGuess: true,
  },
  { id: 'text:letter', role: 'source', when: /(?<=(?:^|\s)S:)/y },
  { id: 'text:letter', role: 'destination', when: /(?<=(?:^|\s)D:)/y },
  { id: 'language:text', role: ({ text, before, token }) => foreignRole(text, before, token.end) },
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
    if (!/[a-z-]/.test(word)) {
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
const wordOrEnd = /[a-z-]+|\d\w*|: |\]|"(?![a-z-])/g

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
      // `mail.example.com[192.0.2.1]`: a peer, by the name its address has.
      const isPeer = previousRole === undefined && previous.type === 'domain' && before === '['
      const isOther = previous.type === 'ip' && token.type === 'ip' && previous.value !== token.value
      const role = isPeer ? 'source' : isOther ? 'translated' : previousRole
      if (role !== undefined) said[at] = { role, rule: 'text:aside' }
      if (isPeer) said[last] = said[at]
      if (role !== undefined) return
    }
    for (const { id, role, when, previous: first, behind, isGuess } of rules) {
      if (behind !== undefined && (behind !== previousRole || previous?.value === token.value)) continue
      if (first !== undefined && previous?.kind === 'mail') continue
      if (first === 'destination' && previous?.kind !== 'address') continue
      if (when) when.lastIndex = before.length
      if (when?.test(before) === false) continue
      const own = typeof role === 'string' ? role : role({ text, token, before, ...(previousRole && { previousRole }) })
      if (own === undefined) continue
      // Only addresses are translated or guessed, and a name behind one is its own.
      if (token.type === 'ip') said[at] = { role: own, rule: id, isGuess: isGuess === true }
      else if (own !== 'translated' && isGuess !== true) said[at] = { role: own, rule: id }
      // An arrow says more than a word in the sentence before: `ICMP Echo Reply 192.0.2.1 -> 198.51.100.1`.
      if (first !== undefined && last >= 0 && (previousRole === undefined || id !== 'text:to'))
        said[last] = { role: first, rule: id }
      // A flow told again is what it was translated to: `192.0.2.1/80->203.0.113.1/443 … 198.51.100.1/80->203.0.113.1/443`.
      if (id === 'text:arrow' && said.filter((one) => one?.rule === id).length > 2)
        said[last] = said[at] = { role: 'translated', rule: 'text:second-flow' }
      break
    }
    last = at
  })
  // `Can't find user [1001@198.51.100.1] from 192.0.2.1`: an account is named after where it is known, or is an address itself.
  return said.some((one) => one?.role === 'source' && one.isGuess !== true)
    ? said.map((one) => (one?.isGuess === true ? undefined : one))
    : said
}
