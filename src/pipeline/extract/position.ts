// The last guess: gives the addresses of a line their roles by where they are, when no word around them does.
import type { Role } from '../../domain/sighting.js'
import { isAscii } from './characters.js'
import { sideBySide, type Said } from './text-rules.js'
import type { Token } from './tokens.js'

/** What somebody does, or is kept from doing. */
const deed =
  /\b(?:log(?:in|on|out|off|ged)|auth[a-z]{0,16}|(?:dis)?connect[a-z]{0,5}|session|initiat[a-z]{2,4}|establish[a-z]{0,3}|negotiat[a-z]{2,4}|handshake|command|executed|fail[a-z]{0,4}|den(?:y|ied)|reject[a-z]{0,3}|refused?|block[a-z]{0,3}|ban(?:ned)?|attack[a-z]{0,5}|scan[a-z]{0,5}|client|user(?:name)?|password|account|credentials?|peer|invalid|illegal|spam[a-z]{0,4}|abuse|attempt[a-z]{0,3}|accept[a-z]{0,3}|violation|intrusion|flood[a-z]{0,3}|suspicious|malicious)\b/i
/** Nothing but a time in brackets, a sign, a label or whose it is (`alice/`) before it. */
const start = /^(?:\[[^[\]]{4,40}\] )?[\s["'(]*(?:(?:ip|host|client|address|ip address) |[\w.@-]{1,64}\/)?$/i
/** Who has one came from there. */
const highPort = /^[: ]\d{4,5}(?![\w.:/-])/

/** Gives roles to the addresses of a line in which words gave none. */
export const guessRoles = (text: string, tokens: readonly Token[], said: (Said | undefined)[]): void => {
  const addresses = tokens.flatMap((token, at) => (token.kind === 'address' ? [{ ...token, at }] : []))
  const [first] = addresses
  if (first === undefined || addresses.some(({ at }) => said[at] !== undefined)) return
  const guess = (at: number, role: Role, rule: string): void => {
    said[at] = { role, rule }
  }
  const pair = addresses.findIndex((one, place) => isPair(text, one, addresses[place + 1]))
  const [from, to] = pair < 0 ? [] : addresses.slice(pair)
  if (from && to) {
    guess(from.at, 'source', 'position:pair')
    guess(to.at, 'destination', 'position:pair')
  } else if (start.test(text.slice(0, first.start).slice(-100)) || highPort.test(text.slice(first.end, first.end + 12)))
    guess(first.at, 'source', 'position:first')
  // The only address in a line that says what somebody did, or was kept from doing, is theirs.
  else if (addresses.every(({ value }) => value === first.value) && (deed.test(text.slice(0, 1000)) || !isAscii(text)))
    guess(first.at, 'source', 'position:actor')
}

const isPair = (text: string, first: Token, second: Token | undefined): boolean =>
  second !== undefined &&
  first.value !== second.value &&
  second.start - first.end < 64 &&
  sideBySide.test(text.slice(first.end, second.start))
