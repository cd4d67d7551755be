// The last guess: gives the addresses of a line their roles by where they stand, when no word around them does.
import type { Role } from '../../domain/sighting.js'
import { isAscii } from './characters.js'
import { sideBySide, type Said } from './text-rules.js'
import type { Token } from './tokens.js'

/** What somebody does, or is kept from doing. */
const deed =
  /\b(?:log(?:in|on|out|off|ged)|auth[a-z]{0,16}|(?:dis)?connect[a-z]{0,5}|session|initiat[a-z]{2,4}|establish[a-z]{0,3}|negotiat[a-z]{2,4}|handshake|command|executed|fail[a-z]{0,4}|den(?:y|ied)|reject[a-z]{0,3}|refused?|block[a-z]{0,3}|ban(?:ned)?|attack[a-z]{0,5}|scan[a-z]{0,5}|client|user(?:name)?|password|account|credentials?|peer|invalid|illegal|spam[a-z]{0,4}|abuse|attempt[a-z]{0,3}|accept[a-z]{0,3}|violation|intrusion|flood[a-z]{0,3}|suspicious|malicious)\b/i
const longestDeed = 1000
/** Nothing but a time in brackets, a sign, a label or whose it is (`alice/`) before it. */
const start = /^(?:\[[^[\]]{4,40}\] )?[\s["'(]*(?:(?:ip|host|client|address|ip address) |[\w.@-]{1,64}\/)?$/i
/** Who has one came from there. */
const highPort = /^[: ]\d{4,5}(?![\w.:/-])/
/** `:443`, `]:443`, `/443`, `#53`, or a column of its own; a prefix length is no port. */
const port = /^\]?(?:[:#]\d{1,5}(?![\d.])|\/(?!(?:[12]?\d|3[0-2])(?!\d))\d{1,5}(?![\d.])|([\t ])\d{1,5}(?:\1|$))/

/** Fills in what the words left open. */
export const guessRoles = (
  text: string,
  tokens: readonly Token[],
  told: readonly (Said | undefined)[],
): readonly (Said | undefined)[] => {
  const addresses = tokens.flatMap((token, at) => (token.kind === 'address' ? [{ ...token, at }] : []))
  const [first] = addresses
  if (first === undefined || addresses.every(({ at }) => told[at] !== undefined)) return told
  const said = [...told]
  const guess = (at: number, role: Role, rule: string): void => {
    said[at] = { role, rule, isGuess: true }
  }
  if (addresses.every(({ at }) => told[at] === undefined)) {
    const pair = addresses.findIndex((one, place) => isPair(text, one, addresses[place + 1]))
    const [from, to] = pair < 0 ? [] : addresses.slice(pair)
    if (from && to) {
      guess(from.at, 'source', 'position:pair')
      guess(to.at, 'destination', 'position:pair')
    } else if (
      start.test(text.slice(Math.max(0, first.start - 100), first.start)) ||
      highPort.test(text.slice(first.end, first.end + 12))
    )
      guess(first.at, 'source', 'position:first')
    // The only address in a line that tells what somebody did, or was kept from doing, is theirs.
    else if (
      addresses.every(({ value }) => value === first.value) &&
      (deed.test(text.slice(0, longestDeed)) || !isAscii(text))
    )
      guess(first.at, 'source', 'position:actor')
  }
  // `192.0.2.1, 198.51.100.1 - - [15/Nov/2026:…`: what is listed with one is like it.
  addresses.forEach(({ start: from, at }, place) => {
    const listed = addresses[place - 1]
    if (listed && text.slice(listed.end, from) === ', ') said[at] ??= said[listed.at]
  })
  // Beside a source, the only other address that has a port is where it went: `client 192.0.2.1:4711 … backend3:198.51.100.1:443`.
  const [other, ...more] = addresses.filter(({ at }) => said[at] === undefined)
  const roles = said.flatMap((one, at) =>
    one && (tokens[at]?.kind === 'address' || one.role === 'destination') ? [one.role] : [],
  )
  if (
    other &&
    more.every(({ value }) => value === other.value) &&
    roles.length > 0 &&
    roles.every((role) => role === 'source')
  )
    if (port.test(text.slice(other.end, other.end + 12))) guess(other.at, 'destination', 'position:other')
  return said
}

const isPair = (text: string, first: Token, second: Token | undefined): boolean =>
  second !== undefined &&
  first.value !== second.value &&
  second.start - first.end < 64 &&
  sideBySide.test(text.slice(first.end, second.start))
