// Tells from the words before an address or a name in free text which role it plays.
import type { Role } from '../../domain/sighting.js'
import { foreignRole } from './foreign-ends.js'
import type { Token } from './token.js'
import { words } from './words.js'

const clues = new Map<string, Role>([
  ...words(
    'from src source saddr client clientip srcip faddr remote peer attacker rhost initiator sender originator by login logout req scanner offender sourceip srcaddr sourceaddress sourceipaddress remoteip remoteaddr remoteaddress intruder originating between von vom desde depuis calling-station-id',
  ).map((word): [string, Role] => [word, 'source']),
  ...words(
    'to dst dest destination daddr server dstip target victim into against towards toward laddr upstream vserver vip backend vserverip vserverserviceip serverip destip responder local master destinationip dstaddr destaddr destinationaddress destinationipaddress localip localaddr localaddress nach vers hacia service member node realserver rserver webserver',
  ).map((word): [string, Role] => [word, 'destination']),
  ...words('nas-ip nas-ip-address').map((word): [string, Role] => [word, 'observer']),
  ...words('gaddr translated nat snat dnat mapped xlated natted').map((word): [string, Role] => [word, 'translated']),
  ...words('query queried question lookup resolve resolving querying').map((word): [string, Role] => [word, 'query']),
  ...words('answer resolved reply resolves is').map((word): [string, Role] => [word, 'answer']),
])

/** What was found in text, with the role its surroundings give it. */
export type TextToken = Token & {
  role: Role | undefined
  /** Only the place told its role: what a field or a format said of the same address counts more. */
  isGuess?: boolean
}

/** Each of the repeated parts begins with a character of its own: where two could match the same, time doubles with each. */
export const arrow =
  /^\]?(?:\/\d+|\.\d+|:[\w-]+|\([^()]{0,40}\)|\[[^[\]]{0,60}\]|\s)*(?:->|=>|-->|>(?=[\s\d[(<]|$)|→|<->|===|\.\.\.)/
/** `192.0.2.1(53) GigabitEthernet0/1-> `, or a source that is no address: `:: -> `. */
const pointed = /(?:->|=>|→)\s*$/
const opened = /^[:/]?\d*\s*\($/
const listed = /^(?:[:/]\d+)?[\s"']*[,;][\s"']*$/

export const roleBetween = (between: string, previous: TextToken | undefined, hasSource: boolean): Role | undefined => {
  if (between.charCodeAt(between.length - 1) === 0x40 && domainUserAt.test(between)) return 'source'
  if (previous) {
    if (between === ', ' || between === ',') return previous.role
    // What closes a mail address is no arrow: `<alice@example.com> (192.0.2.1)`.
    if ((previous.kind !== 'mail' && arrow.test(between)) || pointed.test(between)) {
      // An arrow says more than a word in the sentence before: `ICMP Echo Reply 192.0.2.1 -> 198.51.100.1`.
      if (previous.role !== 'source' && previous.role !== 'url' && (previous.role !== 'destination' || !hasSource))
        previous.role = 'source'
      return 'destination'
    }
    if (between === ' [') return previous.role
    if (opened.test(between)) return previous.type === 'ip' ? 'translated' : previous.role
    if (listed.test(between)) return previous.role
  } else if (pointed.test(between)) return 'destination'
  const way = between.endsWith(' at ') ? wayTo.exec(between) : null
  if (way) return (way[1] ?? '').toLowerCase() === 'from' ? 'source' : 'destination'
  // The last few words before, the nearest first.
  let weak: Role | undefined
  let to = between.length
  for (let count = 0; count < 4 && to > 0; count++) {
    while (to > 0 && !isClueCode(between.charCodeAt(to - 1))) {
      to--
      // Words that end with a quotation mark, with others behind them, are the name of something: `"Source Port Zero" TCP 192.0.2.1`.
      if (count > 0 && between.charCodeAt(to) === 0x22 && !isClueCode(between.charCodeAt(to + 1))) return undefined
      // What a colon ends, with a word behind it, was about something else: `Connection to closed port: udp (192.0.2.1:4711`.
      if (count > 0 && between.charCodeAt(to) === 0x3a && between.charCodeAt(to + 1) === 0x20) return weak
      // So are those in brackets: `[Server thread/INFO]: Player[/192.0.2.1:4711] logged in`.
      if (count > 0 && between.charCodeAt(to) === 0x5d) return undefined
    }
    let from = to
    while (from > 0 && isClueCode(between.charCodeAt(from - 1))) from--
    if (from === to) return weak
    const word = between.slice(from, to).toLowerCase()
    // `Unable to negotiate with 192.0.2.1`, but not `user with IP 192.0.2.1`.
    const role =
      count === 0 && (word === 'with' || word === 'connecting')
        ? word === 'with'
          ? 'source'
          : 'destination'
        : // A name is what somebody's address resolves from: not so in `and the IP is 192.0.2.1`.
          word === 'is' && previous?.type !== 'domain'
          ? undefined
          : (clues.get(word) ?? hyphened(word))
    // `snat to 192.0.2.1`, `was DNAT'ed to 192.0.2.1`
    if (role === 'destination' && between.charCodeAt(from) === 0x74 && translates.test(between.slice(0, to)))
      return 'translated'
    // `Sending handshake initiation to peer 7 (192.0.2.1:51820)`: which way it went says more than who it is.
    if (role === 'source' && far.has(word) && between.slice(Math.max(0, from - 4), from).toLowerCase() === ' to ')
      return 'destination'
    // As Linux says it, `martian source 198.51.100.1 from 192.0.2.1` went to the first.
    if (count === 0 && word === 'source' && between.endsWith('martian source ')) return 'destination'
    if (role && word !== 'is') return role
    // `client ip is 192.0.2.1`: whose it is counts more.
    weak ??= role
    to = from
  }
  return weak
}

const far = new Set(['peer', 'remote', 'attacker'])

/** `src-ip 192.0.2.1` */
const hyphened = (word: string): Role | undefined => {
  const hyphen = word.indexOf('-')
  return hyphen > 0 && ofHost.test(word) ? clues.get(word.slice(0, hyphen)) : undefined
}
const ofHost = /-(?:ip|addr|address|host)$/
/** `Connected to the primary log server at 192.0.2.1`: what is there is less than which way it went. */
const wayTo = /\b(from|to) (?:(?!from |to )[\w'/"()-]{1,24} ){1,6}at $/i

const translates = /\b(?:[sd]?nat(?:'?t?ed)?|translated|mapped) to$/i
/** Whoever was shut out. */
const shutOut =
  /\b(?:duplicate (?:ip )?(?:address|host)(?: detected| found)?|ban(?:ned)?|block(?:ed|ing)?(?: host| ip| source| address)?)[\s:]{1,3}$/i
export const failedFor = /\bfail(?:ed|ure) for ['"]?$/i
/** `User <alice> IP <192.0.2.1>` */
const userIp = /\buser\b(?! with)[^.,;]{0,32}[^\w.,;]ip(?:[ -]?address)?[\s:=<["']{1,3}$/i
/** `S:192.0.2.1 D:198.51.100.1` */
const letterClue = /(?:^|\s)([SD]):$/

/** `'root'@'192.0.2.1'`, `(alice@192.0.2.1)`, `alice@sales 192.0.2.1(4711)`: where a user came from. */
const userAt = /@'$|(?:^|[\s([,])[\w?.-]{1,40}@$|\w@[\w-]{1,63} $/

/** `EXAMPLE.LOCAL\alice@192.0.2.1`: a user of a domain, whatever words the domain is made of. */
const domainUserAt = /\\[\w.$-]{1,64}@$/

/** `Connection refused: /192.0.2.1:443`, as programs in Java write it. */
const refusedBy = /\bconnection refused: ?\/?$/i

export const roleByVerb = (text: string, between: string, end: number): Role | undefined => {
  if (refusedBy.test(between)) return 'destination'
  // `stop:192.0.2.1@ssh.26046:alice`: where a terminal was opened from.
  if (text.charCodeAt(end) === 0x40) return 'source'
  if (between.includes('@') && userAt.test(between)) return 'source'
  if (shutOut.test(between) || failedFor.test(between) || userIp.test(between)) return 'source'
  const letter = between.charCodeAt(between.length - 1) === 0x3a ? letterClue.exec(between) : null
  if (letter) return letter[1] === 'S' ? 'source' : 'destination'
  return foreignRole(text, between, end)
}

const isClueCode = (code: number): boolean => ((code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a) || code === 0x2d
