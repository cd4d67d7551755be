// Reads the value of a field that is known to hold an address, a name, a URL or a mail address.
import { parseAddress } from '../../domain/address.js'
import { parseHostname } from '../../domain/hostname.js'
import type { Role } from '../../domain/sighting.js'
import type { Findings } from './findings.js'
import { hostOfAuthority, pathAt, refang } from './url.js'

const longest = 2048
const longestEndpoint = 64

/** Whether the value was one host, or a list of hosts; what was none may still be text. */
export const readHost = (out: Findings, value: string, field: string, role: Role, rule: string): boolean => {
  // A single label is no name that anybody outside could know.
  if (value.length < 2 || (!value.includes('.') && !value.includes(':'))) return true
  if (addHost(out, value, field, role, rule)) return true
  if (value.length > longest) return false
  let found = false
  for (const part of refang(value).split(/[\s,;|<>"'()[\]{}]+/, 64))
    if (part.length > 1 && addHost(out, part, field, role, rule)) found = true
  return found
}

/** Whether the value is an address, with its port or without, and nothing else. */
export const readAddress = (out: Findings, value: string, field: string, role: Role, rule: string): boolean => {
  const bare = value.length > longestEndpoint ? '' : value.replace(/[\])}>"']{1,3}$/, '').replace(/^\[/, '')
  const address = parseAddress(value) ?? parseAddress(bare.replace(/\]?:\d{1,5}$|\]$/, ''))
  if (address === undefined) return false
  out.add('ip', address, field, role, 'field', rule)
  return true
}

/** One host in any of the ways a field may spell it: with port, prefix length, brackets, scheme, zone, interface. */
const addHost = (out: Findings, value: string, field: string, role: Role, rule: string, path?: string): boolean => {
  if (isBareName(value)) return addName(out, value, field, role, rule, path)
  const address = parseAddress(value)
  if (address !== undefined) {
    out.add('ip', address, field, role, 'field', rule)
    return true
  }
  const again = (part: string): boolean => addHost(out, part, field, role, rule)
  if (value.charCodeAt(0) === 0x5b) {
    const close = value.indexOf(']')
    return close > 1 && again(value.slice(1, close))
  }
  const scheme = value.indexOf('://')
  if (scheme > 0 && scheme < 12) return addAuthority(out, value, scheme + 3, field, role, rule)
  const slash = value.indexOf('/')
  if (slash === 0) return false
  if (slash > 0) {
    if (addHost(out, value.slice(0, slash), field, role, rule, pathAt(value, slash))) return true
    // `DIRECT/192.0.2.1`; a Kerberos principal: `alice/EXAMPLE.COM`.
    return /^[A-Z0-9.-]{4,253}$/.test(value.slice(slash + 1)) && again(value.slice(slash + 1))
  }
  const percent = value.indexOf('%')
  if (percent > 0) return again(value.slice(0, percent))
  const at = value.lastIndexOf('@')
  if (at >= 0) return addHost(out, value.slice(at + 1), field, role === 'other' ? 'mail' : role, rule)
  const colon = value.indexOf(':')
  if (colon >= 0) return colon > 0 && addBetweenColons(out, value, colon, field, role, rule)
  const hash = value.indexOf('#')
  if (hash > 0) return again(value.slice(0, hash))
  return addName(out, value.startsWith('*.') ? value.slice(2) : value, field, role, rule, path)
}

/** The host of the authority that begins at `from`, and the path behind it. */
const addAuthority = (out: Findings, text: string, from: number, field: string, role: Role, rule: string): boolean => {
  const { host, end } = hostOfAuthority(text, from)
  return addHost(out, host, field, role, rule, pathAt(text, end))
}

const addName = (out: Findings, value: string, field: string, role: Role, rule: string, path?: string): boolean => {
  const name = value.includes('.') ? parseHostname(value) : undefined
  if (name === undefined) return false
  out.add('domain', name, field, role, 'field', rule, path)
  return true
}

/** Letters, digits, dots and hyphens, the last part beginning with a letter: the most common spelling by far. */
export const isBareName = (value: string): boolean => {
  const length = value.length
  if (length > 253) return false
  let afterDot = 0
  for (let at = 0; at < length; at++) {
    const code = value.charCodeAt(at)
    if (code === 0x2e) afterDot = at + 1
    else if (code !== 0x2d && !(code >= 0x30 && code <= 0x39) && !((code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a))
      return false
  }
  return (value.charCodeAt(afterDot) | 0x20) >= 0x61 && (value.charCodeAt(afterDot) | 0x20) <= 0x7a
}

/** `192.0.2.1:443`, `host.example:443`, `192.0.2.1:53:X1:host.example`, `2001:db8::1.443`. */
const addBetweenColons = (
  out: Findings,
  value: string,
  colon: number,
  field: string,
  role: Role,
  rule: string,
): boolean => {
  const next = value.indexOf(':', colon + 1)
  if (next < 0 || value.slice(0, colon).includes('.')) {
    const found = addHost(out, value.slice(0, colon), field, role, rule)
    const last = value.slice((next < 0 ? colon : value.lastIndexOf(':')) + 1)
    if (found && next < 0 && last.length < 6) out.addPort(role, Number(last) || 0)
    if (found && next >= 0 && last.includes('.') && isBareName(last)) addName(out, last, field, role, rule)
    return found
  }
  return false
}

/** A URL, `host:port` of a CONNECT, `GET http://… HTTP/1.1`, or a mere path, whose host stands elsewhere. */
export const readUrl = (out: Findings, value: string, field: string, rule: string): boolean => {
  if (value.charCodeAt(0) === 0x2f && value.charCodeAt(1) !== 0x2f) {
    const path = pathAt(value, 0)
    if (path !== undefined) out.add('domain', '', field, 'url', 'field', rule, path)
    return true
  }
  const text = refang(value.slice(0, longest))
  const scheme = text.indexOf('://')
  if (scheme >= 0) return addAuthority(out, text, scheme + 3, field, 'url', rule)
  const start = /^(?:\/\/|(?:sips?|mailto|tel|xmpp):|[A-Z]{3,8} (?=\S))/i.exec(text)?.[0].length ?? 0
  if (text.charCodeAt(start) !== 0x2f) return addAuthority(out, text, start, field, 'url', rule)
  // A whole request: the host it is for stands in a header.
  const header = start > 0 ? text.indexOf('Host: ') : -1
  if (header > 0)
    addHost(out, /^[^\s\\]{0,255}/.exec(text.slice(header + 6))?.[0] ?? '', field, 'url', rule, pathAt(text, start))
  return true
}

/** Mail addresses, however they are dressed; a user name without `@` is none. An address stands for itself. */
export const readMail = (out: Findings, value: string, field: string, rule: string): void => {
  const text = refang(value.slice(0, longest))
  let at = text.indexOf('@')
  if (at < 0) {
    const address = parseAddress(text.includes(',') ? text.slice(0, text.indexOf(',')) : text)
    const isFrom = /from|src|source|client/i.test(field)
    const role = isFrom ? 'source' : /to$|dst|dest/i.test(field) ? 'destination' : 'other'
    if (address !== undefined) out.add('ip', address, field, role, 'field', rule)
  }
  for (let count = 0; at >= 0 && count < 32; count++, at = text.indexOf('@', at + 1))
    addHost(out, hostOfAuthority(text, at + 1).host, field, 'mail', rule)
}

/** `CN=*.example.com, O=…`: the common name may be a host, the rest is words. */
export const readSubject = (out: Findings, value: string, field: string, rule: string): void => {
  const match = /(?:^|[,/\s])CN=\s*([^,/\s]{4,253})/i.exec(value.slice(0, longest))
  if (match) addHost(out, match[1] ?? '', field, 'other', rule)
}
