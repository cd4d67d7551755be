// Gives the addresses of a line their roles by where they stand, when no word around them does.
import type { Role } from '../../domain/sighting.js'
import type { TextToken } from './clues.js'
import { isDigit } from './char-code.js'
import { foreignDeed } from './foreign-ends.js'

const guess = (token: TextToken, role: Role): void => {
  token.role = role
  token.isGuess = true
}

/** Ports, or nothing, between two addresses: `192.0.2.1 4711 198.51.100.1 443`, `192.0.2.1 port 4711 198.51.100.1 port 443`. */
export const sideBySide = /^(?:[:/.]\d{1,5})?["'\]]?(?:[ \t,;|]|[\s,]+(?:port )?\d{1,5}[\s,]+)["'[]?$/

/** `- [192.0.2.1] alice(Realm)[Role] - …`, `sql(alice,192.0.2.1): …`, `through ssh (192.0.2.1)`: an address alone in brackets is who did it. */
export const assignBracketed = (text: string, tokens: readonly TextToken[]): void => {
  for (const token of tokens) {
    if (token.role !== undefined || token.kind !== 'address') continue
    const close = text.charCodeAt(token.end)
    if (
      close === 0x20 &&
      text.charCodeAt(token.start - 1) === 0x22 &&
      withUser.test(text.slice(token.end, token.end + 66))
    ) {
      guess(token, 'source')
      return
    }
    if (
      close === 0x29 ? !opensWithUser(text, token.start) : close !== 0x5d || text.charCodeAt(token.start - 1) !== 0x5b
    )
      continue
    // `[192.0.2.1]: …` says where it happened; behind a name, `mail.example.com [192.0.2.1]:4711`, it is a peer.
    if (close === 0x5d && text.charCodeAt(token.end + 1) === 0x3a && !isPeer(text, token)) continue
    guess(token, 'source')
    return
  }
}

const isPeer = (text: string, { start, end }: TextToken): boolean =>
  isDigit(text.charCodeAt(end + 2)) && nameBefore.test(text.slice(Math.max(0, start - 66), start))
const nameBefore = /[\w-]\.[a-z][\w-]{1,62} \[$/i

/** Alone in parentheses, or behind a user and a comma. */
const opensWithUser = (text: string, start: number): boolean => {
  const before = text.charCodeAt(start - 1)
  return before === 0x28 || (before === 0x2c && userBefore.test(text.slice(Math.max(0, start - 100), start)))
}
/** `"192.0.2.1 alice"` */
const withUser = /^ [^\s"]{1,64}"/
const userBefore = /\([^\s(),]{1,90},$/

const longestGap = 2048
const portBehind = /^[: ]\d{4,5}(?![\w.:/-])/

/** `main[alice]:192.0.2.1:443 new user session`: whatever port they came from. */
const ofUser = /^:\d{1,5} (?:new )?(?:user|client|session)\b/

const servicePort = /^\]?[:#](\d{1,4})(?![\w./-]|:\S)/
/** Key exchange and the like come from the port that they go to. */
const samePorts = new Set([67, 68, 123, 137, 138, 500, 514])
const isService = (text: string, end: number): boolean => {
  const port = Number(servicePort.exec(text.slice(end, end + 8))?.[1] ?? 0)
  return port > 19 && port < 1024 && !samePorts.has(port)
}

/** One blank between the two and no more. */
const isNextTo = (text: string, address: TextToken, url: TextToken): boolean => {
  const between = url.start < address.start ? text.slice(url.end, address.start) : text.slice(address.end, url.start)
  if (between.length > longestGap) return false
  const blank = between.indexOf(' ')
  return blank >= 0 && blank === between.lastIndexOf(' ')
}

/** Without a word to go by: two addresses side by side are source and destination, one at the start is who did it. */
export const assignByPlace = (text: string, tokens: readonly TextToken[]): void => {
  const addresses = tokens.filter((token) => token.kind === 'address')
  for (let at = 0; at + 1 < addresses.length; at++) {
    const first = addresses[at]
    const second = addresses[at + 1]
    if (!first || !second) return
    if (first.value !== second.value && sideBySide.test(text.slice(first.end, second.start))) {
      guess(first, 'source')
      guess(second, 'destination')
      return
    }
  }
  const [only] = addresses
  if (only && listening.test(text.slice(Math.max(0, only.start - 32), only.start))) {
    guess(only, 'destination')
    return
  }
  // `AUDIT alice GUI 192.0.2.1 40001 CONFIG …`: one that has a port is an end of a connection.
  if (only && portBehind.test(text.slice(only.end, only.end + 8))) {
    guess(only, 'source')
    return
  }
  // `health check of 198.51.100.1:443 failed`: the port of a service is at the end where others come to.
  if (only && addresses.length === 1 && isService(text, only.end)) {
    guess(only, ofUser.test(text.slice(only.end, only.end + 32)) ? 'source' : 'destination')
    return
  }
  // `2023.3.2 10:11:40 alice 192.0.2.1 https://www.example.com *DENIED*`: who asked for it.
  if (only && addresses.length === 1 && tokens.some((token) => token.kind === 'url' && isNextTo(text, only, token))) {
    guess(only, 'source')
    return
  }
  // `IKE 192.0.2.1: Received incorrect ID payload`
  if (only && addresses.length === 1 && text.startsWith(': ', only.end) && text.charCodeAt(only.start - 1) === 0x20) {
    guess(only, 'source')
    return
  }
  // `192.0.2.1 (ssh) alice: show configuration`
  if (only && addresses.length === 1 && byTerminal.test(text.slice(only.end, only.end + 12))) {
    guess(only, 'source')
    return
  }
  if (only && only.start < 80 && atStart.test(text.slice(0, only.start))) guess(only, 'source')
  else if (only && addresses.every((address) => address.value === only.value) && isActor(text, only.start))
    guess(only, 'source')
}

const byTerminal = /^ ?\((?:ssh|telnet|https?|web|cli|gui|console|snmp|vty|api)\b/i

/** `192.0.2.1 … to 198.51.100.1`: who stands first, where words tell only of the other end. */
export const assignFirst = (text: string, tokens: readonly TextToken[]): void => {
  const first = tokens.find((token) => token.kind === 'address')
  if (first?.role === undefined && first && first.start < 80 && atStart.test(text.slice(0, first.start)))
    guess(first, 'source')
}

/** A time in brackets may stand before: `[2026-11-15 10:00:00.000 UTC] 192.0.2.1: …`. */
const atStart = /^(?:\[[^[\]]{4,40}\] )?[\s["'(]*(?:(?:ip|host|client|address|ip address) |[\w.@-]{1,64}\/)?$/i

/** `Listening on 192.0.2.1:8080`: where others come to. */
const listening = /\b(?:listen(?:ing|s)?|bound|bind(?:ing|s)?)(?: on| to| at)?\W{1,3}$/i

/** The only address in a line that tells what somebody did, or was kept from doing, is theirs; not one that belongs to this side. */
const isActor = (text: string, start: number): boolean => {
  const before = text.slice(Math.max(0, start - 32), start)
  if (ours.test(before)) return false
  if (labelled.test(before)) return true
  const told = text.length > longestDeed ? text.slice(0, longestDeed) : text
  return deed.test(told) || foreignDeed(told)
}
/** `…, IP: 192.0.2.1` */
const labelled = /\bip(?:[ -]?addr(?:ess)?|地址|アドレス|주소)?\s?[:=：＝]\s?['"]?$/i
const longestDeed = 1000
const deed =
  /\b(?:log(?:in|on|out|off|ged)|auth[a-z]{0,16}|(?:dis)?connect[a-z]{0,5}|session|initiat[a-z]{2,4}|establish[a-z]{0,3}|negotiat[a-z]{2,4}|handshake|command|executed|fail[a-z]{0,4}|den(?:y|ied)|reject[a-z]{0,3}|refused?|block[a-z]{0,3}|ban(?:ned)?|attack[a-z]{0,5}|scan[a-z]{0,5}|client|user(?:name)?|password|account|credentials?|peer|invalid|illegal|spam[a-z]{0,4}|abuse|attempt[a-z]{0,3}|accept[a-z]{0,3}|violation|intrusion|flood[a-z]{0,3}|suspicious|malicious|couldn't find)\b/i
const ours =
  /\b(?:listen[a-z]{0,3}|b[io]u?nd(?:ing)?|using|via|loggers?|gateway|routers?|subnet|network|netmask|assigned|leased?|interface|nameserver|resolver|ntp|dev(?:ice)?_?(?:ip)?)\W{1,3}(?:on |to |at |for |address |ip )?\W?$/i
