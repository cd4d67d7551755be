// The last resort: guesses the roles of a line's addresses from their positions, when no word gives them.
import type { Role } from '../../domain/sighting.js'
import { isAscii } from './characters.js'
import { legOfPorts } from './flow.js'
import { sideBySide, type Said } from './text-rules.js'
import type { Token } from './tokens.js'

/** Words for an action that someone took or was kept from taking. */
const deed =
  /\b(?:log(?:in|on|out|off|ged)|auth[a-z]{0,16}|(?:dis)?connect[a-z]{0,5}|session|initiat[a-z]{2,4}|establish[a-z]{0,3}|negotiat[a-z]{2,4}|handshake|command|executed|fail[a-z]{0,4}|den(?:y|ied)|reject[a-z]{0,3}|refused?|block[a-z]{0,3}|ban(?:n(?:ed|ing))?|(?:deny|block|black)[ -]?list(?:ed)?|not found|attack[a-z]{0,5}|scan[a-z]{0,5}|client|user(?:name)?|password|account|credentials?|peer|invalid|illegal|spam[a-z]{0,4}|abuse|attempt[a-z]{0,3}|accept[a-z]{0,3}|violation|intrusion|flood[a-z]{0,3}|suspicious|malicious)\b/i
/** Only a time in brackets, a sign, a label or an owner (`alice/`) stands before the address. */
const start = /^(?:\[[^[\]]{4,40}\] )?[\s["'(]*(?:(?:ip|host|client|address|ip address) |[\w.@-]{1,64}\/)?$/i
/** An address with a high port is a client's. */
const highPort = /^[: ]\d{4,5}(?![\w.:/-])/

const isAddress = ({ kind }: Token): boolean => kind === 'address'

/** Guesses the roles of a line's addresses, if words gave none. */
export const guessRoles = (text: string, tokens: readonly Token[], said: (Said | undefined)[]): void => {
  if (tokens.some(({ kind }, at) => kind === 'address' && said[at] !== undefined)) return
  const first = tokens.find(isAddress)
  if (first === undefined) return
  const guess = (token: Token, role: Role, rule: string): void => {
    said[tokens.indexOf(token)] = { role, rule }
  }
  const addresses = tokens.filter(isAddress)
  const pair = addresses.findIndex((one, place) => isPair(text, one, addresses[place + 1]))
  const from = addresses[pair]
  const to = addresses[pair + 1]
  if (from && to) {
    // The end with the port of a service is the destination.
    const isServerFirst = legOfPorts(from.port ?? 0, to.port ?? 0) === 'reply'
    guess(from, isServerFirst ? 'destination' : 'source', 'position:pair')
    guess(to, isServerFirst ? 'source' : 'destination', 'position:pair')
  } else if (start.test(text.slice(0, first.start).slice(-100)) || highPort.test(text.slice(first.end, first.end + 12)))
    guess(first, 'source', 'position:first')
  // In a line about an action, done or prevented, the only address is the actor's.
  else if (addresses.every(({ value }) => value === first.value) && (deed.test(text.slice(0, 1000)) || !isAscii(text)))
    guess(first, isWhereTo(text, first) ? 'destination' : 'source', 'position:actor')
}

/** `IP: 192.0.2.1` is the source of an event that has no other. */
export const guessLabelled = (text: string, tokens: readonly Token[], said: (Said | undefined)[]): void => {
  if (said.some((one) => one?.role === 'source')) return
  const isLabelled = ({ kind, start: at }: Token, place: number): boolean =>
    kind === 'address' && said[place] === undefined && label.test(text.slice(Math.max(0, at - 24), at))
  const only = tokens.findIndex(isLabelled)
  if (only >= 0 && tokens.findLastIndex(isLabelled) === only) said[only] = { role: 'source', rule: 'position:label' }
}
const label = /(?:^|[\s,;|("'[])(?:ip|ip[ _-]?addr(?:ess)?)["']?\s?[:=]\s?["'[(]?$/i

/** `192.0.2.1|40001|198.51.100.7|443` in a field of its own: two addresses with two ports, in their order. */
export const guessTuple = (text: string, tokens: readonly Token[], said: (Said | undefined)[]): void => {
  const [from, to] = tokens
  if (from?.kind !== 'address' || !isPair(text, from, to) || said.some((one) => one !== undefined)) return
  const ports = [from, to].map((one) => one?.port ?? Number(portInRow.exec(text.slice(one?.end))?.[1] ?? 0))
  if (ports[0] === ports[1] || ports.includes(0)) return
  said[0] = { role: 'source', rule: 'position:tuple' }
  said[1] = { role: 'destination', rule: 'position:tuple' }
}
const portInRow = /^["']?[|,; ]["']?(\d{1,5})(?![\w.])/

/** `192.0.2.1 192.0.2.1 40001 443`: a machine connects to itself. */
const portsBehind = /^ \d{1,5} \d{1,5}(?![\w.])/
/** `connected 192.0.2.1:443`: the address with the port of a service is the destination. */
const isWhereTo = (text: string, { port = 0 }: Token): boolean =>
  port > 0 && port < 1024 && /\bconnect(?:ing|ed)?\b/i.test(text.slice(0, 1000))

const isPair = (text: string, first: Token, second: Token | undefined): boolean =>
  second !== undefined &&
  (first.value !== second.value || portsBehind.test(text.slice(second.end, second.end + 16))) &&
  second.start - first.end < 64 &&
  sideBySide.test(text.slice(first.end, second.start))
