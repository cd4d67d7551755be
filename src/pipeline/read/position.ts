// The last guess: gives the addresses of a line their roles by where they stand, when no word around them does.
import type { Role } from '../../domain/sighting.js'
import { isDigit, words } from './characters.js'
import { foreignDeed } from './languages.js'
import { sideBySide, type Said } from './text-rules.js'
import type { Token } from './tokens.js'

type Line = { readonly text: string; readonly tokens: readonly Token[]; readonly said: readonly (Said | undefined)[] }

/** Where the line gives no word to go by, in order; of a line with one address, the role of that. */
type OnlyRule = { readonly id: string; readonly role: Role; readonly when: (line: Line, only: Token) => boolean }

const longestDeed = 1000
const atStart = /^(?:\[[^[\]]{4,40}\] )?[\s["'(]*(?:(?:ip|host|client|address|ip address) |[\w.@-]{1,64}\/)?$/i
const listening = /\b(?:listen(?:ing|s)?|bound|bind(?:ing|s)?)(?: on| to| at)?\W{1,3}$/i
const labelled = /\bip(?:[ -]?addr(?:ess)?|地址|アドレス|주소)?\s?[:=：＝]\s?['"]?$/i
const terminal = /^ ?\((?:ssh|telnet|https?|web|cli|gui|console|snmp|vty|api)\b/i
const deed =
  /\b(?:log(?:in|on|out|off|ged)|auth[a-z]{0,16}|(?:dis)?connect[a-z]{0,5}|session|initiat[a-z]{2,4}|establish[a-z]{0,3}|negotiat[a-z]{2,4}|handshake|command|executed|fail[a-z]{0,4}|den(?:y|ied)|reject[a-z]{0,3}|refused?|block[a-z]{0,3}|ban(?:ned)?|attack[a-z]{0,5}|scan[a-z]{0,5}|client|user(?:name)?|password|account|credentials?|peer|invalid|illegal|spam[a-z]{0,4}|abuse|attempt[a-z]{0,3}|accept[a-z]{0,3}|violation|intrusion|flood[a-z]{0,3}|suspicious|malicious|couldn't find)\b/i
const ours =
  /\b(?:listen[a-z]{0,3}|b[io]u?nd(?:ing)?|using|via|loggers?|gateway|routers?|subnet|network|netmask|assigned|leased?|pool|interface|nameserver|resolver|syslog|ntp|nat(?:ted)?|translated|dev(?:ice)?_?(?:ip)?)\b[^.;]{0,20}$/i

const before = (text: string, { start }: Token): string => text.slice(Math.max(0, start - 32), start)
const behind = (text: string, { end }: Token, length: number): string => text.slice(end, end + length)

/** Key exchange and the like come from the port that they go to. */
const samePorts = new Set([67, 68, 123, 137, 138, 500, 514])
const servicePort = /^\]?[:#](\d{1,4})(?![\w./-]|:\S)/
const isService = (text: string, token: Token): boolean => {
  const port = Number(servicePort.exec(behind(text, token, 8))?.[1] ?? 0)
  return (
    port > 19 &&
    port < 1024 &&
    !samePorts.has(port) &&
    !/^:\d{1,5} (?:new )?(?:user|client|session)\b/.test(behind(text, token, 32))
  )
}

const onlyRules: readonly OnlyRule[] = [
  { id: 'position:listening', role: 'destination', when: ({ text }, only) => listening.test(before(text, only)) },
  // `AUDIT alice GUI 192.0.2.1 40001 CONFIG …`: one that has a high port came from there.
  {
    id: 'position:port',
    role: 'source',
    when: ({ text }, only) => /^[: ]\d{4,5}(?![\w.:/-])/.test(behind(text, only, 8)),
  },
  // `health check of 198.51.100.1:443 failed`
  { id: 'position:service', role: 'destination', when: ({ text }, only) => isService(text, only) },
  // `alice 192.0.2.1 https://www.example.com *DENIED*`: who asked for it.
  {
    id: 'position:url',
    role: 'source',
    when: ({ text, tokens }, only) => tokens.some((url) => url.kind === 'url' && isNextTo(text, only, url)),
  },
  // `IKE 192.0.2.1: Received incorrect ID payload`, `192.0.2.1 (ssh) alice: show configuration`
  {
    id: 'position:speaker',
    role: 'source',
    when: ({ text }, only) =>
      (text.startsWith(': ', only.end) && text[only.start - 1] === ' ') || terminal.test(behind(text, only, 12)),
  },
  { id: 'position:start', role: 'source', when: ({ text }, only) => isAtStart(text, only) },
  // The only address in a line that tells what somebody did, or was kept from doing, is theirs; not one that belongs to this side.
  {
    id: 'position:actor',
    role: 'source',
    when: ({ text }, only) => !ours.test(before(text, only)) && (labelled.test(before(text, only)) || isDeed(text)),
  },
]

const isDeed = (text: string): boolean => {
  const told = text.length > longestDeed ? text.slice(0, longestDeed) : text
  return deed.test(told) || foreignDeed(told)
}

const isAtStart = (text: string, token: Token): boolean => token.start < 80 && atStart.test(text.slice(0, token.start))

/** One blank between the two and no more. */
const isNextTo = (text: string, address: Token, url: Token): boolean => {
  const between = url.start < address.start ? text.slice(url.end, address.start) : text.slice(address.end, url.start)
  const blank = between.indexOf(' ')
  return between.length < 2048 && blank >= 0 && blank === between.lastIndexOf(' ')
}

/** `:443`, `]:443`, `/443`, `#53`, or a column of its own; a prefix length is no port. */
const hasPort = (text: string, token: Token): boolean => {
  const found =
    /^\]?(?:[:#]\d{1,5}(?![\d.])|\/(?!(?:[12]?\d|3[0-2])(?!\d))\d{1,5}(?![\d.])|([\t ])\d{1,5}(?:\1|$))/.test(
      behind(text, token, 9),
    )
  return found && isDigit(text.charCodeAt(token.end + 1) || 0x30)
}

/** Fills in what the words left open; `said` is not changed. */
export const guessRoles = (line: Line): readonly (Said | undefined)[] => {
  const { text, tokens } = line
  const said = [...line.said]
  const addresses = tokens.flatMap((token, at) => (token.kind === 'address' ? [at] : []))
  const guess = (at: number, role: Role, rule: string): void => {
    said[at] = { role, rule, isGuess: true }
  }
  const at = (index: number): Token => tokens[index] as Token
  const [first = -1] = addresses
  if (first < 0) return said
  const isOnly = addresses.every((index) => at(index).value === at(first).value)
  if (addresses.every((index) => said[index] === undefined)) {
    const pair = addresses.findIndex((index, place) => isPair(text, at(index), tokens[addresses[place + 1] ?? -1]))
    if (pair >= 0) {
      guess(addresses[pair] ?? -1, 'source', 'position:pair')
      guess(addresses[pair + 1] ?? -1, 'destination', 'position:pair')
    } else {
      const rule = onlyRules.find(({ id, when }) => (isOnly || firstRules.has(id)) && when(line, at(first)))
      if (rule) guess(first, rule.role, rule.id)
    }
  } else if (said.every((one) => one?.role !== 'source') && said[first] === undefined && isAtStart(text, at(first)))
    guess(first, 'source', 'position:start')
  if (said.every((one) => one?.role !== 'source')) {
    const alone = addresses.find((index) => said[index] === undefined && isBracketed(text, at(index)))
    if (alone !== undefined) guess(alone, 'source', 'position:brackets')
  }
  // `192.0.2.1, 198.51.100.1 - - [15/Nov/2026:…`: what is listed with one is like it.
  addresses.forEach((index, place) => {
    const before = addresses[place - 1]
    const like = before === undefined ? undefined : said[before]
    if (
      before !== undefined &&
      like !== undefined &&
      said[index] === undefined &&
      text.slice(at(before).end, at(index).start) === ', '
    )
      said[index] = like
  })
  // Beside a source, the only other address that has a port is where it went: `client 192.0.2.1:4711 … backend3:198.51.100.1:443`.
  const source = addresses.find((index) => said[index]?.role === 'source')
  const open = addresses.filter((index) => said[index] === undefined)
  const [left = -1] = open
  if (
    source !== undefined &&
    left >= 0 &&
    said.every(
      (one, index) =>
        one?.role !== 'destination' && (one === undefined || one.role === 'source' || at(index).kind !== 'address'),
    ) &&
    open.every((index) => at(index).value === at(left).value) &&
    at(left).value !== at(source).value &&
    text[at(left).start - 1] !== '@' &&
    hasPort(text, at(left)) &&
    !ours.test(before(text, at(left)))
  )
    guess(left, 'destination', 'position:other')
  return said
}

/** These may be told of the first of several. */
const firstRules = new Set(words('position:listening position:port position:start'))

const isPair = (text: string, first: Token, second: Token | undefined): boolean =>
  second !== undefined &&
  first.value !== second.value &&
  second.start - first.end < 64 &&
  sideBySide.test(text.slice(first.end, second.start))

/** `- [192.0.2.1] alice(Realm)[Role] - …`, `sql(alice,192.0.2.1): …`, `through ssh (192.0.2.1)`, `"192.0.2.1 alice"`. */
const isBracketed = (text: string, token: Token): boolean => {
  const opens = text.slice(Math.max(0, token.start - 100), token.start)
  const closes = behind(text, token, 66)
  if (closes.startsWith(')')) return /\((?:[^\s(),]{1,90},)?$/.test(opens)
  if (opens.endsWith('"')) return /^ [^\s"]{1,64}"/.test(closes)
  // `[192.0.2.1]: …` says where it happened; behind a name, `mail.example.com [192.0.2.1]:4711`, it is a peer.
  return (
    opens.endsWith('[') &&
    /^\](?!:)/.test(
      closes.startsWith(']:') && /[\w-]\.[a-z][\w-]{1,62} \[$/i.test(opens) && isDigit(closes.charCodeAt(2))
        ? ']'
        : closes,
    )
  )
}
