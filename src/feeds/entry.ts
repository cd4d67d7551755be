// Reads one value of a feed: an address, range, name or URL in the notations that feeds use, defanged or not.
import { parseRange, readAddress, type AddressRange } from '../domain/address.js'
import { parseHostname } from '../domain/hostname.js'
import { parsePort } from './parse-port.js'
import { normalPath } from './url-path.js'

/** An IPv4 range written as its first and last address. */
export type Span = { readonly first: number; readonly last: number }

/** URL schemes; an entry stores the index of its scheme. Index 0 means another scheme or none. */
export const schemes = ['', 'http://', 'https://', 'ftp://', 'ftps://', 'tcp://', 'udp://'] as const

export type Entry =
  /** `port`: the entry lists only this port of a single address. */
  | { readonly kind: 'range'; readonly range: AddressRange; readonly port?: number }
  | { readonly kind: 'span'; readonly span: Span }
  /** Covers the name and everything below it. */
  | { readonly kind: 'name'; readonly name: string }
  /** A listed URL: with a path it covers everything that begins with it, without one the host. It never covers names below the host. */
  | {
      readonly kind: 'site'
      readonly name: string
      readonly path: string
      /** As listed: the index of the scheme, and the port or 0. */
      readonly scheme: number
      readonly port: number
    }

/**
 * other: well-formed, but of a kind that is never looked up; `what` names the kind. unusable: not an entry. single: one label, either a
 * public suffix or a plain word.
 */
type Reading =
  | Entry
  | { readonly kind: 'other'; readonly what: string }
  | { readonly kind: 'unusable' }
  | { readonly kind: 'single'; readonly name: string }

const unusable: Reading = { kind: 'unusable' }
const path: Reading = { kind: 'other', what: 'a path without a host' }
const mail: Reading = { kind: 'other', what: 'a mail address' }
const fileHash: Reading = { kind: 'other', what: 'a file hash' }
const maxLength = 4096

/** Undoes defanging such as `hxxps[:]//bad[.]example`. */
const refang = (text: string): string =>
  text
    .replace(/\[\.\]|\(\.\)|\{\.\}|\[dot\]|\(dot\)/gi, '.')
    .replace(/\[:\]/g, ':')
    .replace(/\[:\/\/\]/g, '://')
    .replace(/^h(?:xx|\*\*)p(?=s?:)/i, 'http')

const isDefanged = (text: string): boolean => /[[({]|^h(?:xx|\*\*)ps?:/i.test(text)

type Authority = { readonly host: string; readonly port: number; readonly end: number }

/** The host and port between scheme and path, without the user, and the offset where the path begins. */
const authorityOf = (text: string): Authority => {
  const scheme = text.indexOf('://')
  const start = scheme >= 0 ? scheme + 3 : 0
  let end = text.slice(start).search(/[/?#\\]/)
  end = end < 0 ? text.length : start + end
  const authority = text.slice(start, end)
  const own = scheme >= 0 ? authority.slice(authority.lastIndexOf('@') + 1) : authority
  const host = withoutPort(own)
  return { host, port: own === host ? 0 : (parsePort(own.slice(own.lastIndexOf(':') + 1)) ?? 0), end }
}

/** `198.51.100.7:443` and `[2001:db8::7]:443`, the most common entries in lists of servers. */
const endpointOf = (text: string): Reading | undefined => {
  const colon = text.lastIndexOf(':')
  if (colon < 7 || text.length - colon > 6) return undefined
  const isSix = text.charCodeAt(0) === 0x5b
  if (isSix ? text.charCodeAt(colon - 1) !== 0x5d : text.indexOf(':') !== colon) return undefined
  const port = parsePort(text.slice(colon + 1))
  const host = isSix ? text.slice(1, colon - 1) : text.slice(0, colon)
  const range = port === undefined || host.includes('/') ? undefined : parseRange(host)
  return range && port !== undefined ? { kind: 'range', range, port } : undefined
}

const withoutPort = (host: string): string => {
  if (host.startsWith('[')) return host.slice(1, host.indexOf(']') < 0 ? host.length : host.indexOf(']'))
  const colon = host.indexOf(':')
  return colon >= 0 && colon === host.lastIndexOf(':') ? host.slice(0, colon) : host
}

const named = (text: string): Reading => {
  const bare = text.startsWith('*.') ? text.slice(2) : text.startsWith('.') ? text.slice(1) : text
  const name = parseHostname(bare)
  if (name !== undefined) return { kind: 'name', name }
  return /^[a-z][a-z0-9-]{0,62}\.?$/i.test(bare)
    ? { kind: 'single', name: bare.toLowerCase().replace(/\.$/, '') }
    : unusable
}

/** A bare host, with at most a port, lists the whole name. With a scheme or a path it is a URL. */
const siteOf = (host: Reading, text: string, { port, end }: Authority): Reading => {
  if (host.kind !== 'name') return host
  const { name } = host
  const path = end < text.length ? normalPath(text.slice(end)) : '/'
  const scheme = schemeOf(text)
  if (path !== '/') return { kind: 'site', name, path, scheme, port }
  return text.includes('://') || end < text.length ? { kind: 'site', name, path: '', scheme, port } : host
}

const schemeOf = (text: string): number => {
  const start = text.slice(0, 8).toLowerCase()
  return Math.max(
    0,
    schemes.findIndex((scheme) => scheme !== '' && start.startsWith(scheme)),
  )
}

/** Four groups of three digits are decimal: the leading zeros are padding, not octal. */
const padded = /^\d{3}\.\d{3}\.\d{3}\.\d{3}$/
const withoutPadding = (text: string): string => (padded.test(text) ? text.replace(/\b0{1,2}(?=\d)/g, '') : text)

const hash = /^(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128})$/i

export const readEntry = (raw: string): Reading => {
  if (raw.length > maxLength) return unusable
  const trimmed = withoutPadding(raw.trim())
  const direct = parseRange(trimmed)
  if (direct) return { kind: 'range', range: direct }
  const endpoint = endpointOf(trimmed)
  if (endpoint) return endpoint
  const text = isDefanged(trimmed) ? refang(trimmed) : trimmed
  const range = parseRange(text)
  if (range) return { kind: 'range', range }
  const span = parseSpan(text)
  if (span) return { kind: 'span', span }
  if (/^\/[^/]/.test(text)) return path
  if (text.includes('://') || /[/:?]/.test(text)) {
    const authority = authorityOf(text)
    const { host } = authority
    const address = parseRange(host)
    if (!address) return host === '' ? unusable : siteOf(named(host), text, authority)
    // An invalid prefix (198.51.100.0/33) must not become the single address before the slash.
    if (!text.includes('://') && /\/\d+$/.test(text)) return unusable
    // A URL with an IP host lists the whole address, because the port belongs to only one of its servers.
    return endpointOf(text) ?? { kind: 'range', range: address }
  }
  if (text.includes('@')) return /^[^@\s]+@[^@\s]+$/.test(text) ? mail : unusable
  return hash.test(text) ? fileHash : named(text)
}

const readSpan = (firstText: string, lastText: string): Span | undefined => {
  const first = readAddress(withoutPadding(firstText))
  const last = readAddress(withoutPadding(lastText))
  if (typeof first !== 'number' || typeof last !== 'number' || last < first) return undefined
  return { first, last }
}

/** `192.0.2.1-192.0.2.40`, with spaces around the dash or without. */
const parseSpan = (text: string): Span | undefined => {
  const dash = text.indexOf('-')
  return dash < 0 ? undefined : readSpan(text.slice(0, dash).trimEnd(), text.slice(dash + 1).trimStart())
}

/** The prefixes that cover exactly this span; at most 62. */
export const prefixesOf = ({ first, last }: Span): AddressRange[] => {
  const prefixes: AddressRange[] = []
  for (let at = first; at <= last;) {
    // The widest prefix that is aligned to its start and fits into the rest.
    let size = 1
    while (at % (size * 2) === 0 && at + size * 2 - 1 <= last && size < 2 ** 32) size *= 2
    prefixes.push({ version: 4, first: at, last: at + size - 1 })
    at += size
  }
  return prefixes
}

/** A row of first address, last address and prefix length that agree, as in DShield's block list. */
export const spanOfRow = ([first = '', last = '', bits = '']: readonly string[]): string | undefined => {
  const span = readSpan(first, last)
  return span && /^\d\d?$/.test(bits) && span.last - span.first + 1 === 2 ** (32 - Number(bits))
    ? `${first}-${last}`
    : undefined
}
