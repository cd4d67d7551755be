// Reads the value of a field that is known to hold an address, a name, a URL or a mail address.
import type { Role } from '../../domain/sighting.js'
import { parseAddress } from '../../domain/address.js'
import { parseHostname } from '../../domain/hostname.js'
import { decodePercent, refang } from './plain.js'
import type { Sightings } from './sightings.js'
import { hostOfAuthority, pathAt } from './url.js'

const longest = 2048
const longestPath = 80

/** Whether the value was one host, or a list of hosts; what was none may still be text. */
export const readHost = (value: string, field: string, role: Role, sightings: Sightings): boolean => {
  // A single label is no name that anybody outside could know.
  if (value.length < 2 || (!value.includes('.') && !value.includes(':'))) return true
  if (addHost(value, field, role, sightings)) return true
  if (value.length > longest) return false
  const plain = refang(value).trim()
  const parts = plain.split(/[\s,;|<>"'()[\]{}]+/, 64)
  let found = false
  for (const part of parts) if (part.length > 1 && addHost(part, field, role, sightings)) found = true
  return found
}

/** Whether the value is an address, with its port or without, and nothing else. */
export const readAddress = (value: string, field: string, role: Role, sightings: Sightings): boolean => {
  const address = parseAddress(value) ?? parseAddress(withoutPort(value.replace(/[\])}>"']{1,3}$/, '')))
  if (address === undefined) return false
  sightings.add('ip', address, field, role, 'field')
  return true
}

/** `192.0.2.1:443`, `[2001:db8::1]:443`; what has no port as it is. */
const withoutPort = (value: string): string => {
  if (value.length > longestEnd) return ''
  const colon = value.lastIndexOf(':')
  if (value.charCodeAt(0) === 0x5b) return value.slice(1, value.includes(']') ? value.indexOf(']') : undefined)
  return colon > 0 && colon === value.indexOf(':') ? value.slice(0, colon) : value
}
const longestEnd = 64

/** One host in any of the ways a field may spell it: with port, prefix length, brackets, scheme, zone, interface. */
const addHost = (value: string, field: string, role: Role, sightings: Sightings, path?: string): boolean => {
  if (isBareName(value)) return addName(value, field, role, sightings, path)
  const address = parseAddress(value)
  if (address !== undefined) {
    sightings.add('ip', address, field, role, 'field')
    return true
  }
  const first = value.charCodeAt(0)
  if (first === 0x5b) {
    const close = value.indexOf(']')
    return close > 1 && addHost(value.slice(1, close), field, role, sightings)
  }
  const scheme = value.indexOf('://')
  if (scheme > 0 && scheme < 12) return addAuthority(value, scheme + 3, field, role, sightings)
  const slash = value.indexOf('/')
  if (slash > 0) {
    if (addHost(value.slice(0, slash), field, role, sightings, pathAt(value, slash))) return true
    // `IPV4/UDP/192.0.2.1/5060`, as Asterisk writes both ends.
    const inner =
      value.length < longestPath ? value.split('/', 6).find((part) => parseAddress(part) !== undefined) : undefined
    if (inner !== undefined) return addHost(inner, field, role, sightings)
    // A Kerberos principal: `alice/EXAMPLE.COM`.
    return /^[A-Z0-9.-]{4,253}$/.test(value.slice(slash + 1)) && addHost(value.slice(slash + 1), field, role, sightings)
  }
  if (slash === 0) return false
  const percent = value.indexOf('%')
  if (percent > 0) return addHost(value.slice(0, percent), field, role, sightings)
  const at = value.lastIndexOf('@')
  if (at >= 0) return addHost(value.slice(at + 1), field, role === 'other' ? 'mail' : role, sightings)
  const colon = value.indexOf(':')
  if (colon >= 0) return colon > 0 && addBetweenColons(value, colon, field, role, sightings)
  const hash = value.indexOf('#')
  if (hash > 0) return addHost(value.slice(0, hash), field, role, sightings)
  return addName(value.startsWith('*.') ? value.slice(2) : value, field, role, sightings, path)
}

/** The host of the authority that begins at `from`, and the path behind it. */
const addAuthority = (text: string, from: number, field: string, role: Role, sightings: Sightings): boolean => {
  const { host, end } = hostOfAuthority(text, from)
  return addHost(host, field, role, sightings, pathAt(text, end))
}

const addName = (value: string, field: string, role: Role, sightings: Sightings, path?: string): boolean => {
  const name = value.includes('.') ? parseHostname(value) : undefined
  if (name === undefined) return false
  sightings.add('domain', name, field, role, 'field', path)
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
const addBetweenColons = (value: string, colon: number, field: string, role: Role, sightings: Sightings): boolean => {
  const next = value.indexOf(':', colon + 1)
  if (next < 0 || value.slice(0, colon).includes('.')) {
    const found = addHost(value.slice(0, colon), field, role, sightings)
    const last = next < 0 ? '' : value.slice(value.lastIndexOf(':') + 1)
    if (found && last.includes('.') && isBareName(last)) addName(last, field, role, sightings)
    return found
  }
  const dot = value.lastIndexOf('.')
  if (dot > 0 && parseAddress(value.slice(0, dot)) !== undefined)
    return addHost(value.slice(0, dot), field, role, sightings)
  return false
}

/** A URL, `host:port` of a CONNECT, `GET http://… HTTP/1.1`, or a mere path, whose host stands elsewhere. */
export const readUrl = (value: string, field: string, sightings: Sightings): boolean => {
  if (value.length > 0 && value.charCodeAt(0) === 0x2f && value.charCodeAt(1) !== 0x2f) {
    const path = pathAt(value, 0)
    if (path !== undefined) sightings.add('domain', '', field, 'url', 'field', path)
    return true
  }
  const text = refang(value.length > longest ? value.slice(0, longest) : value)
  const scheme = text.indexOf('://')
  if (scheme >= 0) return addAuthority(text, scheme + 3, field, 'url', sightings)
  const encoded = /^[a-z]{3,5}%3a%2f%2f/i.test(text) ? decodePercent(text) : undefined
  if (encoded !== undefined) return addAuthority(encoded, encoded.indexOf('://') + 3, field, 'url', sightings)
  const mail = /^(?:sips?|mailto|tel|xmpp):(.*)$/i.exec(text)
  const start = mail
    ? text.length - (mail[1] ?? '').length
    : text.startsWith('//')
      ? 2
      : (/^[A-Z]{3,8} (?=\S)/.exec(text)?.[0].length ?? 0)
  if (text.charCodeAt(start) === 0x2f) {
    // A whole request: the host it is for stands in a header.
    const header = start > 0 ? text.indexOf('Host: ') : -1
    if (header > 0)
      addHost(/^[^\s\\]{0,255}/.exec(text.slice(header + 6))?.[0] ?? '', field, 'url', sightings, pathAt(text, start))
    return true
  }
  return addAuthority(text, start, field, 'url', sightings)
}

/** Mail addresses, however they are dressed; a user name without `@` is none. An address stands for itself. */
export const readMail = (value: string, field: string, sightings: Sightings): boolean => {
  const text = refang(value.length > longest ? value.slice(0, longest) : value)
  let at = text.indexOf('@')
  if (at < 0) {
    const comma = text.indexOf(',')
    const address = parseAddress(comma > 0 ? text.slice(0, comma) : text)
    if (address === undefined) return false
    const role = /from|src|source|client/i.test(field)
      ? 'source'
      : /to$|dst|dest/i.test(field)
        ? 'destination'
        : 'other'
    sightings.add('ip', address, field, role, 'field')
    return true
  }
  let found = false
  for (let count = 0; at >= 0 && count < 32; count++, at = text.indexOf('@', at + 1)) {
    const { host } = hostOfAuthority(text, at + 1)
    if (addHost(host, field, 'mail', sightings)) found = true
  }
  return found
}

/** `CN=*.example.com, O=…`: the common name may be a host, the rest is words. */
export const readSubject = (value: string, field: string, sightings: Sightings): boolean => {
  const match = /(?:^|[,/\s])CN=\s*([^,/\s]{4,253})/i.exec(value.length > longest ? value.slice(0, longest) : value)
  if (match) addHost(match[1] ?? '', field, 'other', sightings)
  return match !== null
}
