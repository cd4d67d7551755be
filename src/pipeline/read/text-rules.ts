// Tells from the text around an address or a name in a sentence which role it plays: an ordered table of rules, walked by one loop.
import type { Role } from '../../domain/sighting.js'
import { isLetter, table, words } from './characters.js'
import { foreignRole } from './languages.js'
import type { Token } from './tokens.js'

/** A role and the rule that gave it. A guess counts only where no field or format told the same endpoint. */
export type Said = { readonly role: Role; readonly rule: string; readonly isGuess?: boolean }

export type Around = {
  readonly text: string
  readonly token: Token
  /** The one before that is no aside: what it was translated to, or its name. */
  readonly previous: Token | undefined
  readonly previousRole: Role | undefined
  /** What stands between the two, at most 48 characters of it. */
  readonly between: string
  readonly hasSource: boolean
  readonly isLine: boolean
}

type TextRule = {
  readonly id: string
  readonly role: (around: Around) => Role | undefined
  /** What the rule says of the one before, where nothing was said of it. */
  readonly before?: Role
  readonly isGuess?: boolean
}

const clues = table<Role>(
  [
    'source',
    `from src source saddr client clientip srcip faddr remote peer attacker rhost initiator sender originator by login logout req scanner offender
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
  ['answer', 'answer resolved reply resolves is'],
)
/** Each of the repeated parts begins with a character of its own: where two could match the same, time doubles with each. */
const arrow =
  /^\]?(?:\/\d+|\.\d+|:[\w-]+|\([^()]{0,40}\)|\[[^[\]]{0,60}\]|\s)*(?:->|=>|-->|>(?=[\s\d[(<]|$)|→|<->|===|\.\.\.)|^:\d{1,5} - $/
/** `192.0.2.1(53) GigabitEthernet0/1-> `, or a source that is no address: `:: -> `. */
const pointed = /(?:->|=>|→)\s*$/
const request = /(?:^|[ "])(?:CONNECT|GET|POST|HEAD|PUT) $/
const listed = /^(?:[:/]\d+)?[\s"']*[,;][\s"']*$/
/** `192.0.2.1:4711 to 198.51.100.1`, `outside:192.0.2.1/443 (198.51.100.9/443) to inside:198.51.100.1` */
const toNext = /^(?:[:/]\d{1,5})?(?:\s?\([^()]{0,60}\)){0,3}(?: [\w.-]{1,24})? to (?:[\w.-]{1,40}[:/])?$/
const andNext = /^(?:[:/#]\d{1,5})?(?:\[[^[\]]{0,60}\])? and $/
/** Ports, or nothing, between two addresses: `192.0.2.1 4711 198.51.100.1 443`, `192.0.2.1 port 4711 198.51.100.1 port 443`. */
export const sideBySide = /^(?:[:/.]\d{1,5})?["'\]]?(?:[ \t,;|]|[\s,]+(?:port )?\d{1,5}[\s,]+)["'[]?$/
/** `Connected to the primary log server at 192.0.2.1`: what is there is less than which way it went. */
const wayTo = /\b(from|to) (?:(?!from |to )[\w'/"()-]{1,24} ){1,6}at $/i
const translates = /\b(?:[sd]?nat(?:'?t?ed)?|translated|mapped) to$/i
/** `'root'@'192.0.2.1'`, `(alice@192.0.2.1)`, `alice@sales 192.0.2.1(4711)`, `DOMAIN\alice@192.0.2.1`: where a user came from. */
const userAt = /@'$|(?:^|[\s([,])[\w?.-]{1,40}@$|\w@[\w-]{1,63} $|\\[\w.$-]{1,64}@$/
/** Whoever was shut out, or failed. */
const shutOut =
  /\b(?:duplicate (?:ip )?(?:address|host)(?: detected| found)?|ban(?:ned)?|block(?:ed|ing)?(?: host| ip| source| address)?)[\s:]{1,3}$/i
const failedFor = /\bfail(?:ed|ure) for ['"]?$/i
/** `User <alice> IP <192.0.2.1>` */
const userIp = /\buser\b(?! with)[^.,;]{0,32}[^\w.,;-]ip(?:[ -]?address)?[\s:=<["']{1,3}$|> IP <$/i
const refusedBy = /\bconnection refused: ?\/?$/i
const letterBefore = /(?:^|\s)([SD]):$/
const far = new Set(words('peer remote attacker'))

const isAddress = (token: Token | undefined): boolean => token?.kind === 'address'

const rules: readonly TextRule[] = [
  {
    id: 'text:domain-user',
    role: ({ between }) => (between.endsWith('@') && /\\[\w.$-]{1,64}@$/.test(between) ? 'source' : undefined),
  },
  {
    id: 'text:arrow',
    role: ({ previous, between }) => (isArrow(previous, between) ? 'destination' : undefined),
    before: 'source',
  },
  {
    id: 'text:request',
    role: ({ previous, token, between }) =>
      request.test(between)
        ? token.type === 'domain'
          ? 'url'
          : isAddress(previous)
            ? 'destination'
            : undefined
        : undefined,
    before: 'source',
  },
  {
    id: 'text:list',
    role: ({ previousRole, between }) => (between.length < 12 && listed.test(between) ? previousRole : undefined),
  },
  { id: 'text:record', role: ({ between }) => (/ IN (?:A|AAAA|CNAME|PTR) $/.test(between) ? 'answer' : undefined) },
  { id: 'text:at', role: ({ between }) => (between.endsWith(' at ') ? wayBefore(between) : undefined) },
  {
    id: 'text:to',
    role: ({ previous, between }) => (isAddress(previous) && toNext.test(between) ? 'destination' : undefined),
    before: 'source',
  },
  {
    id: 'text:user-ip',
    role: ({ token, between }) => (isAddress(token) && userIp.test(between) ? 'source' : undefined),
  },
  { id: 'text:word', role: (around) => roleOfWords(around) },
  {
    id: 'text:refused',
    role: ({ token, between }) => (isAddress(token) && refusedBy.test(between) ? 'destination' : undefined),
  },
  {
    id: 'text:user-at',
    role: ({ text, token, between }) =>
      isAddress(token) && (text.charCodeAt(token.end) === 0x40 || (between.includes('@') && userAt.test(between)))
        ? 'source'
        : undefined,
    isGuess: true,
  },
  {
    id: 'text:shut-out',
    role: ({ token, between }) => (isAddress(token) && shutOut.test(between) ? 'source' : undefined),
  },
  {
    id: 'text:failed-for',
    role: ({ token, between }) => (isAddress(token) && failedFor.test(between) ? 'source' : undefined),
    isGuess: true,
  },
  {
    id: 'text:letter',
    role: ({ between }) => (between.endsWith(':') ? byLetter(letterBefore.exec(between)?.[1]) : undefined),
  },
  {
    id: 'language:text',
    role: ({ text, token, between }) => (isAddress(token) ? foreignRole(text, between, token.end) : undefined),
  },
  {
    id: 'text:beside-source',
    role: ({ isLine, token, previous, previousRole, between }) =>
      isLine &&
      isAddress(token) &&
      isAddress(previous) &&
      previousRole === 'source' &&
      previous?.value !== token.value &&
      sideBySide.test(between)
        ? 'destination'
        : undefined,
  },
  {
    id: 'text:between-and',
    role: ({ text, previous, previousRole, between }) =>
      previous &&
      previousRole === 'source' &&
      andNext.test(between) &&
      /between $/i.test(text.slice(Math.max(0, previous.start - 9), previous.start))
        ? 'destination'
        : undefined,
  },
]

/** What closes a mail address is no arrow: `<alice@example.com> (192.0.2.1)`. */
const isArrow = (previous: Token | undefined, between: string): boolean =>
  (previous !== undefined && previous.kind !== 'mail' && arrow.test(between)) || pointed.test(between)

const wayBefore = (between: string): Role | undefined => {
  const way = wayTo.exec(between)?.[1]
  return way === undefined ? undefined : way.toLowerCase() === 'from' ? 'source' : 'destination'
}

const byLetter = (letter: string | undefined): Role | undefined =>
  letter === undefined ? undefined : letter === 'S' ? 'source' : 'destination'

const isClueCode = (code: number): boolean => isLetter(code) || code === 0x2d

/** The last few words before, the nearest first. */
const roleOfWords = ({ previous, between }: Around): Role | undefined => {
  let weak: Role | undefined
  let to = between.length
  for (let count = 0; count < 4 && to > 0; count++) {
    while (to > 0 && !isClueCode(between.charCodeAt(to - 1))) {
      to--
      const code = between.charCodeAt(to)
      if (count === 0) continue
      // Words that end with a quotation mark, with others behind them, are the name of something: `"Source Port Zero" TCP 192.0.2.1`.
      if (code === 0x22 && !isClueCode(between.charCodeAt(to + 1))) return undefined
      // What a colon ends, with a word behind it, was about something else: `Connection to closed port: udp (192.0.2.1:4711`.
      if (code === 0x3a && between.charCodeAt(to + 1) === 0x20) return weak
      if (code === 0x5d) return undefined
    }
    let from = to
    while (from > 0 && isClueCode(between.charCodeAt(from - 1))) from--
    if (from === to) return weak
    const word = between.slice(from, to).toLowerCase()
    // `Unable to negotiate with 192.0.2.1`, but not `user with IP 192.0.2.1`.
    if (count === 0 && word === 'with') return 'source'
    if (count === 0 && word === 'connecting') return 'destination'
    const role = clues.get(word) ?? (ofHost.test(word) ? clues.get(word.slice(0, word.indexOf('-'))) : undefined)
    // `snat to 192.0.2.1`
    if (word === 'to' && translates.test(between.slice(0, to))) return 'translated'
    // `Sending handshake initiation to peer 7 (192.0.2.1:51820)`: which way it went says more than who it is.
    if (far.has(word) && between.slice(Math.max(0, from - 4), from).toLowerCase() === ' to ') return 'destination'
    // `client ip is 192.0.2.1`: whose it is counts more; a name is what an address resolves from.
    if (role && word !== 'is') return role
    if (previous?.type === 'domain') weak ??= role
    to = from
  }
  return weak
}
const ofHost = /^[a-z]+-(?:ip|addr|address)$/

/** `192.0.2.1:4711 [203.0.113.1:2268] ->`, `outside:192.0.2.1/443 (198.51.100.1/443)`, `host.example.com[192.0.2.1]`: said of the one before. */
const opened = /^(?:[:/#]\d{0,5})?\s?[[(]$/
const asideRole = (token: Token, previous: Token, role: Role | undefined): Role | undefined =>
  previous.type === 'ip' && token.type === 'ip' && previous.value !== token.value ? 'translated' : role

/** One role, or none, for each token. */
export const rolesInText = (text: string, tokens: readonly Token[], isLine: boolean): (Said | undefined)[] => {
  const said: (Said | undefined)[] = []
  let last = -1
  let hasSource = false
  let flows = 0
  tokens.forEach((token, at) => {
    said.push(undefined)
    const previous = tokens[last]
    if (token.kind === 'url' || token.kind === 'mail') {
      last = at
      return
    }
    const between = text.slice(Math.max(previous?.end ?? 0, token.start - 48), token.start)
    const previousRole = said[last]?.role
    if (previous !== undefined && previous.kind !== 'url' && opened.test(between)) {
      const role = asideRole(token, previous, previousRole)
      // `mail.example.com[192.0.2.1]`: a peer, by the name its address has.
      const isPeer = role === undefined && between === '[' && text.charCodeAt(token.end) === 0x5d
      if (isPeer) said[last] = said[at] = { role: 'source', rule: 'text:peer' }
      else if (role !== undefined) said[at] = { role, rule: 'text:aside' }
      if (isPeer) hasSource = true
      if (role !== undefined || isPeer) return
    }
    const around: Around = { text, token, previous, previousRole, between, hasSource, isLine }
    for (const rule of rules) {
      const role = rule.role(around)
      if (role === undefined) continue
      // Only addresses are translated, and a name behind one is its own.
      const own = role === 'translated' && token.type === 'domain' ? previousRole : role
      if (own !== undefined) said[at] = { role: own, rule: rule.id, isGuess: rule.isGuess === true }
      if (rule.before !== undefined && last >= 0 && isOpen(rule, previousRole, hasSource)) {
        said[last] = { role: rule.before, rule: rule.id }
        hasSource = true
      }
      // A flow told again is what it was translated to: `192.0.2.1/80->203.0.113.1/443 … 198.51.100.1/80->203.0.113.1/443`.
      if (rule.id === 'text:arrow' && said[last]?.role === 'source' && ++flows > 1)
        said[last] = said[at] = { role: 'translated', rule: 'text:second-flow' }
      break
    }
    if (said[at]?.role === 'source') hasSource = true
    last = at
  })
  // `Can't find user [1001@198.51.100.1] from 192.0.2.1`: an account is named after where it is known, or is an address itself.
  return said.some((one) => one?.role === 'source' && one.isGuess !== true)
    ? said.map((one) => (one?.isGuess === true ? undefined : one))
    : said
}

/** An arrow says more than a word in the sentence before: `ICMP Echo Reply 192.0.2.1 -> 198.51.100.1`. */
const isOpen = (rule: TextRule, role: Role | undefined, hasSource: boolean): boolean =>
  role === undefined ||
  (rule.id === 'text:arrow' && role !== 'source' && role !== 'url' && (role !== 'destination' || !hasSource))
