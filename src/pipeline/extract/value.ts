// Reads the value of a field that is known to hold an address, a name, a URL or a mail address.
import { parseAddress } from '../../domain/address.js'
import { parseHostname } from '../../domain/hostname.js'
import type { Role } from '../../domain/sighting.js'
import type { Findings } from './findings.js'
import { authorityAt, hasDot, pathAt, refang } from './url.js'

const longest = 2048

/** Where a value is and what its field says of it. */
type Place = { readonly field: string; readonly role: Role; readonly rule: string }

const addAddress = (out: Findings, value: string, { field, role, rule }: Place): boolean => {
  const address = parseAddress(value)
  if (address !== undefined) out.add('ip', address, field, role, 'field', rule)
  return address !== undefined
}
const addName = (out: Findings, value: string, { field, role, rule }: Place, path?: string): boolean => {
  const name = hasDot(value) ? parseHostname(value.startsWith('*.') ? value.slice(2) : value) : undefined
  if (name !== undefined) out.add('domain', name, field, role, 'field', rule, path)
  return name !== undefined
}

/** Whether the value was one host, or a list of hosts; what was none may still be text. */
export const readHost = (out: Findings, value: string, place: Place): boolean => {
  // A single label is no name that anybody outside could know.
  if (value.length < 2 || (!hasDot(value) && !value.includes(':'))) return true
  if (addHost(out, value, place)) return true
  if (value.length > longest) return false
  let found = false
  for (const part of refang(value).split(/[\s,;|<>"'()[\]{}]+/, 64))
    if (part.length > 1 && addHost(out, part, place)) found = true
  return found
}

/** Whether the value is an address, with its port or without, and nothing else. */
export const readAddress = (out: Findings, value: string, place: Place): boolean =>
  addAddress(out, value, place) || (value.length < 64 && addAddress(out, authorityAt(value, 0).host, place))

/** One host in any of the ways a field may spell it: with port, prefix length, brackets, scheme, zone, interface. */
const addHost = (out: Findings, value: string, place: Place): boolean => {
  if (isBareName(value)) return addName(out, value, place)
  if (addAddress(out, value, place)) return true
  const scheme = value.indexOf('://')
  const isUrl = scheme > 0 && scheme < 12
  const { host, port, end, path } = authorityAt(value, isUrl ? scheme + 3 : 0)
  // What a blank or a comma ends is one of several.
  if (end < value.length && !'/?#%'.includes(value.charAt(end))) return false
  if (addAddress(out, host, place) || addName(out, host, place, path)) {
    out.addPort(place.role, port)
    return true
  }
  // `DIRECT/192.0.2.1`; a Kerberos principal: `alice/EXAMPLE.COM`.
  const behind = isUrl ? '' : value.slice(value.indexOf('/') + 1)
  return behind !== value && /^[A-Z0-9.-]{4,253}$/.test(behind) && addHost(out, behind, place)
}

/** Letters, digits, dots and hyphens, the last part beginning with a letter: the most common spelling by far. */
export const isBareName = (value: string): boolean => /^[\dA-Za-z.-]{0,252}(?<=^|\.)[A-Za-z][\dA-Za-z-]*$/.test(value)

/** A URL, `host:port` of a CONNECT, or a mere path, whose host is elsewhere. */
export const readUrl = (out: Findings, value: string, { field, rule }: Place): boolean => {
  const place: Place = { field, role: 'url', rule }
  const text = refang(value.slice(0, longest))
  const slashes = text.indexOf('//')
  const start = slashes === 0 || text.charAt(slashes - 1) === ':' ? slashes + 2 : 0
  if (text.charCodeAt(start) === 0x2f) {
    const path = pathAt(text, start)
    if (path !== undefined) out.add('domain', '', field, 'url', 'field', rule, path)
    return true
  }
  const { host, path } = authorityAt(text, start)
  return addAddress(out, host, place) || addName(out, host, place, path)
}

/** Mail addresses, however they are dressed; a user name without `@` is none, an address in its place somebody's. */
export const readMail = (out: Findings, value: string, { field, rule }: Place): void => {
  const text = refang(value.slice(0, longest))
  let at = text.indexOf('@')
  const role = /from|src|client/i.test(field) ? 'source' : /to$|dst/i.test(field) ? 'destination' : 'other'
  if (at < 0) addAddress(out, authorityAt(text, 0).host, { field, role, rule })
  for (let count = 0; at >= 0 && count < 32; count++, at = text.indexOf('@', at + 1)) {
    const { host } = authorityAt(text, at + 1)
    if (!addAddress(out, host, { field, role: 'mail', rule })) addName(out, host, { field, role: 'mail', rule })
  }
}
