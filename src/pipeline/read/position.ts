// The last guess: gives the addresses of a line their roles by where they stand, when no word around them does.
import type { Role } from '../../domain/sighting.js'
import { foreignDeed } from './languages.js'
import { sideBySide, type Said } from './text-rules.js'
import type { Token } from './tokens.js'

/** Of the only address of a line, or of the first of several: what stands right before it, right behind it, anywhere. */
type PositionRule = {
  readonly id: string
  readonly role: Role
  readonly before?: RegExp
  readonly behind?: RegExp
  readonly unlessBefore?: RegExp
  readonly anywhere?: (text: string) => boolean
  readonly isOfFirst?: boolean
}

/** What somebody does, or is kept from doing. */
const deed =
  /\b(?:log(?:in|on|out|off|ged)|auth[a-z]{0,16}|(?:dis)?connect[a-z]{0,5}|session|initiat[a-z]{2,4}|establish[a-z]{0,3}|negotiat[a-z]{2,4}|handshake|command|executed|fail[a-z]{0,4}|den(?:y|ied)|reject[a-z]{0,3}|refused?|block[a-z]{0,3}|ban(?:ned)?|attack[a-z]{0,5}|scan[a-z]{0,5}|client|user(?:name)?|password|account|credentials?|peer|invalid|illegal|spam[a-z]{0,4}|abuse|attempt[a-z]{0,3}|accept[a-z]{0,3}|violation|intrusion|flood[a-z]{0,3}|suspicious|malicious)\b/i
/** What belongs to this side. */
const ours =
  /\b(?:listen[a-z]{0,3}|b[io]u?nd(?:ing)?|using|via|loggers?|gateway|routers?|subnet|network|netmask|assigned|leased?|pool|interface|nameserver|resolver|syslog|ntp|nat(?:ted)?|translated|dev(?:ice)?_?(?:ip)?)\b[^.;]{0,20}$/i
const labelled = /\bip(?:[ -]?addr(?:ess)?|地址|アドレス|주소)?\s?[:=：＝]\s?['"]?$/i
const longestDeed = 1000

const rules: readonly PositionRule[] = [
  {
    id: 'position:listening',
    role: 'destination',
    before: /\b(?:listen(?:ing|s)?|bound|bind(?:ing|s)?)(?: on| to| at)?\W{1,3}$/i,
    isOfFirst: true,
  },
  // `AUDIT alice GUI 192.0.2.1 40001 CONFIG …`: one that has a high port came from there.
  { id: 'position:port', role: 'source', behind: /^[: ]\d{4,5}(?![\w.:/-])/, isOfFirst: true },
  // `health check of 198.51.100.1:443 failed`; key exchange and the like come from the port that they go to.
  {
    id: 'position:service',
    role: 'destination',
    behind: /^\]?[:#](?!(?:67|68|123|137|138|500|514)\b)(?:[2-9]\d|\d{3})(?![\w./-]|:\S)/,
  },
  // `192.0.2.1 https://www.example.com`, `IKE 192.0.2.1: Received incorrect ID payload`, `192.0.2.1 (ssh) alice: show configuration`
  {
    id: 'position:speaker',
    role: 'source',
    behind: /^(?:: | [a-z]{3,6}:\/\/| ?\((?:ssh|telnet|https?|web|cli|gui)\b)/i,
  },
  {
    id: 'position:start',
    role: 'source',
    before: /^(?:\[[^[\]]{4,40}\] )?[\s["'(]*(?:(?:ip|host|client|address|ip address) |[\w.@-]{1,64}\/)?$/i,
    isOfFirst: true,
  },
  // The only address in a line that tells what somebody did, or was kept from doing, is theirs.
  { id: 'position:label', role: 'source', before: labelled, unlessBefore: ours },
  {
    id: 'position:actor',
    role: 'source',
    unlessBefore: ours,
    anywhere: (text) => deed.test(text.slice(0, longestDeed)) || foreignDeed(text),
  },
]

/** Where a line names nobody else, who stands alone in brackets: `- [192.0.2.1] alice(Realm)`, `sql(alice,192.0.2.1): …`. */
const bracketed = /\((?:[^\s(),]{1,90},)?$|\[$/
const closed = /^(?:\)|\](?!:))/
/** `:443`, `]:443`, `/443`, `#53`, or a column of its own; a prefix length is no port. */
const port = /^\]?(?:[:#]\d{1,5}(?![\d.])|\/(?!(?:[12]?\d|3[0-2])(?!\d))\d{1,5}(?![\d.])|([\t ])\d{1,5}(?:\1|$))/

/** Fills in what the words left open. */
export const guessRoles = (
  text: string,
  tokens: readonly Token[],
  told: readonly (Said | undefined)[],
): readonly (Said | undefined)[] => {
  if (tokens.every((token, at) => token.kind !== 'address' || told[at] !== undefined)) return told
  const said = [...told]
  const addresses = tokens.flatMap((token, at) => (token.kind === 'address' ? [{ token, at }] : []))
  const [first] = addresses
  if (first === undefined) return said
  const before = ({ start }: Token, length = 100): string => text.slice(Math.max(0, start - length), start)
  const behind = ({ end }: Token): string => text.slice(end, end + 12)
  const guess = (at: number, role: Role, rule: string): void => {
    said[at] = { role, rule, isGuess: true }
  }
  const hasSource = (): boolean => said.some((one) => one?.role === 'source')
  if (addresses.every(({ at }) => said[at] === undefined)) {
    const isOnly = addresses.every(({ token }) => token.value === first.token.value)
    const pair = addresses.find(({ token }, place) => isPair(text, token, addresses[place + 1]?.token))
    const isHeld = (one: PositionRule): boolean =>
      (isOnly || one.isOfFirst === true) &&
      one.before?.test(before(first.token)) !== false &&
      one.behind?.test(behind(first.token)) !== false &&
      one.unlessBefore?.test(before(first.token, 32)) !== true &&
      one.anywhere?.(text) !== false
    const rule = pair ? undefined : rules.find(isHeld)
    if (pair) {
      guess(pair.at, 'source', 'position:pair')
      guess(addresses[addresses.indexOf(pair) + 1]?.at ?? -1, 'destination', 'position:pair')
    } else if (rule) guess(first.at, rule.role, rule.id)
  }
  const alone = hasSource()
    ? undefined
    : addresses.find(
        ({ token, at }) => said[at] === undefined && bracketed.test(before(token)) && closed.test(behind(token)),
      )
  if (alone) guess(alone.at, 'source', 'position:brackets')
  // `192.0.2.1, 198.51.100.1 - - [15/Nov/2026:…`: what is listed with one is like it.
  addresses.forEach(({ token, at }, place) => {
    const listed = addresses[place - 1]
    if (listed && text.slice(listed.token.end, token.start) === ', ') said[at] ??= said[listed.at]
  })
  // Beside a source, the only other address that has a port is where it went: `client 192.0.2.1:4711 … backend3:198.51.100.1:443`.
  const open = addresses.filter(({ at }) => said[at] === undefined)
  const isPlain = said.every(
    (one, at) => !one || one.role === 'source' || (one.role !== 'destination' && tokens[at]?.kind !== 'address'),
  )
  const [other] = open
  if (
    other &&
    isPlain &&
    hasSource() &&
    open.every(({ token }) => token.value === other.token.value) &&
    port.test(behind(other.token)) &&
    !ours.test(before(other.token, 32))
  )
    guess(other.at, 'destination', 'position:other')
  return said
}

const isPair = (text: string, first: Token, second: Token | undefined): boolean =>
  second !== undefined &&
  first.value !== second.value &&
  second.start - first.end < 64 &&
  sideBySide.test(text.slice(first.end, second.start))
