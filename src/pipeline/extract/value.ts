// Reads the value of a field that holds an address, a name, a URL or a mail address.
import { parseAddress } from '../../domain/address.js'
import { parseHostname } from '../../domain/hostname.js'
import type { Role } from '../../domain/sighting.js'
import type { Findings } from './findings.js'
import { isMasked } from './names.js'
import { isDigit } from './characters.js'
import { authorityAt, hasDot, pathAt, portOfUrl, refang } from './url.js'

const longest = 2048

/** The field of a value, and what its name tells. */
type Place = { readonly field: string; readonly role: Role; readonly rule: string }

const addAddress = (out: Findings, value: string, { field, role, rule }: Place, port?: number): boolean => {
  const address = parseAddress(value)
  if (address !== undefined) out.add('ip', address, field, role, 'field', rule, undefined, port)
  return address !== undefined
}
const addName = (out: Findings, value: string, { field, role, rule }: Place, path?: string): boolean => {
  const name = hasDot(value) ? parseHostname(value.startsWith('*.') ? value.slice(2) : value) : undefined
  // `0.054301s` is a time, and `xxx.xxx.xxx.xxx` a masked address.
  if (name === undefined || !/\.[a-z][^.]*$/.test(name) || isMasked(name)) return name !== undefined
  // A client has no path; a URL in its place names a picture or a program.
  out.add('domain', name, field, role === 'source' && path !== undefined ? 'url' : role, 'field', rule, path)
  return true
}

/** Whether the value was one host or a list of hosts; any other value may still be text. */
export const readHost = (out: Findings, value: string, place: Place): boolean => {
  // A single label means nothing outside its own network.
  if (value.length < 2 || (!hasDot(value) && !value.includes(':'))) return true
  if (addHost(out, value, place)) return true
  if (value.length > longest) return false
  let found = false
  for (const part of refang(value).split(/[\s,;|<>"'()[\]{}]+/, 64))
    // The `130.0.0.0` of a browser is a version, and an address like that is a network.
    if (
      part.length > 1 &&
      !part.endsWith('.0.0.0') &&
      (addHost(out, part, place) || addAddressWithin(out, part, place))
    )
      found = true
  return found
}

/** `IPV4/UDP/192.0.2.1/5060`, `alice@192.0.2.1/22`: one of the parts is an address, and the number after it is its port. */
const addAddressWithin = (out: Findings, value: string, place: Place): boolean => {
  const parts = value.split(/[/@|]/, 8)
  const at = parts.length > 1 ? parts.findIndex((part) => part.length > 2 && addAddress(out, part, place)) : -1
  const port = parts[at + 1] ?? ''
  if (at >= 0 && /^\d{1,5}$/.test(port)) out.addPort(place.role, Number(port))
  return at >= 0
}

/** Whether the value is one address, with or without a port. */
export const readAddress = (out: Findings, value: string, place: Place): boolean =>
  addAddress(out, value, place) || (value.length < 64 && addAddress(out, authorityAt(value, 0).host, place))

/** One host in any spelling that fields use: with port, prefix length, brackets, scheme, zone, interface. */
const addHost = (out: Findings, value: string, place: Place): boolean => {
  if (isBareName(value)) return addName(out, value, place)
  if (addAddress(out, value, place)) return true
  const code = value.charCodeAt(0)
  if ((isDigit(code) || code === 0x3a || value.includes('::')) && addGlued(out, value, place)) return true
  const scheme = value.indexOf('://')
  const isUrl = scheme > 0 && scheme < 12
  const { host, port, end, path } = authorityAt(value, isUrl ? scheme + 3 : 0)
  // A host that ends at a blank or a comma is one of several.
  if (end < value.length && !'/?#%'.includes(value.charAt(end))) return false
  if (addAddress(out, host, place) || addName(out, host, place, path)) {
    out.addPort(place.role, port)
    return true
  }
  // `DIRECT/192.0.2.1`; a Kerberos principal: `alice/EXAMPLE.COM`.
  const behind = isUrl ? '' : value.slice(value.indexOf('/') + 1)
  return behind !== value && /^[A-Z0-9.-]{4,253}$/.test(behind) && addHost(out, behind, place)
}

/** `192.0.2.1_443`, `192.0.2.1.40001`, `2001:db8::1:40001`, `192.0.2.1Peer port`: an address with a port or a word right after it. */
const addGlued = (out: Findings, value: string, place: Place): boolean => {
  if (value.length > 64) return false
  const [, beforePort, port, beforeWord] = glued.exec(value) ?? []
  if (!addAddress(out, beforePort ?? beforeWord ?? '', place)) return false
  if (port !== undefined) out.addPort(place.role, Number(port))
  return true
}
const glued = /^(?:(.{3,45})[_.:#](\d{1,5})|(\d{1,3}(?:\.\d{1,3}){3})[A-Z][a-z]+)$/

/** Letters, digits, dots and hyphens, where the last part begins with a letter: by far the most common spelling. */
export const isBareName = (value: string): boolean => /^[\dA-Za-z.-]{0,252}(?<=^|\.)[A-Za-z][\dA-Za-z-]*$/.test(value)

/** A URL, the `host:port` of a CONNECT, or only a path, whose host is in another field. */
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
  const { host, port, path } = authorityAt(text, start)
  return (
    addAddress(out, host, place, portOfUrl(text.slice(0, Math.max(0, slashes)), port)) ||
    addName(out, host, place, path)
  )
}

const mayBeAddress = /^[\d[:a-f]/i
/** Mail addresses in any notation. A user name without `@` is not one; an IP address in its place belongs to an end. */
export const readMail = (out: Findings, value: string, { field, rule }: Place): void => {
  const text = refang(value.slice(0, longest))
  let at = text.indexOf('@')
  if (at < 0 && mayBeAddress.test(text)) {
    const role = /from|src|client/i.test(field) ? 'source' : /to$|dst/i.test(field) ? 'destination' : 'other'
    addAddress(out, authorityAt(text, 0).host, { field, role, rule })
  }
  for (let count = 0; at >= 0 && count < 32; count++, at = text.indexOf('@', at + 1)) {
    const { host } = authorityAt(text, at + 1)
    if (!addAddress(out, host, { field, role: 'mail', rule })) addName(out, host, { field, role: 'mail', rule })
  }
}
