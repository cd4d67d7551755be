// Reads one value of a feed: an address, a range, a name or a URL, as feeds write them, defanged or not.
import { parseRange, readAddress, type AddressRange } from '../domain/address.js'
import { parseHostname } from '../domain/hostname.js'
import { normalPath } from './url-path.js'

/** An IPv4 range that is written by its first and last address. */
export type Span = { readonly first: number; readonly last: number }

export type Entry =
  | { readonly kind: 'range'; readonly range: AddressRange }
  | { readonly kind: 'span'; readonly span: Span }
  /** The name and everything below it. */
  | { readonly kind: 'name'; readonly name: string }
  /** What a URL accuses: with a path everything that begins with it, without one the host; nothing below the host. */
  | { readonly kind: 'site'; readonly name: string; readonly path: string }

/**
 * other: well-formed, but nothing that is looked up; `what` says what it is.
 * unusable: no entry at all. single: one label, which is a public suffix or a word.
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

/** `hxxps[:]//bad[.]example` and the other ways of writing an address so that nobody clicks it. */
const refang = (text: string): string =>
  text
    .replace(/\[\.\]|\(\.\)|\{\.\}|\[dot\]|\(dot\)/gi, '.')
    .replace(/\[:\]/g, ':')
    .replace(/\[:\/\/\]/g, '://')
    .replace(/^h(?:xx|\*\*)p(?=s?:)/i, 'http')

const isDefanged = (text: string): boolean => /[[({]|^h(?:xx|\*\*)ps?:/i.test(text)

/** What stands between scheme and path, without user and port, and where the path begins. */
const authorityOf = (text: string): { readonly host: string; readonly end: number } => {
  const scheme = text.indexOf('://')
  const start = scheme >= 0 ? scheme + 3 : 0
  let end = text.slice(start).search(/[/?#\\]/)
  end = end < 0 ? text.length : start + end
  const authority = text.slice(start, end)
  return { host: withoutPort(scheme >= 0 ? authority.slice(authority.lastIndexOf('@') + 1) : authority), end }
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

/** A host is the whole name only where it stands by itself, with a port at most. */
const siteOf = (host: Reading, text: string, end: number): Reading => {
  if (host.kind !== 'name') return host
  const path = end < text.length ? normalPath(text.slice(end)) : '/'
  if (path !== '/') return { kind: 'site', name: host.name, path }
  return text.includes('://') || end < text.length ? { kind: 'site', name: host.name, path: '' } : host
}

/** Four groups of three digits are decimal, whatever a leading zero means elsewhere. */
const padded = /^\d{3}\.\d{3}\.\d{3}\.\d{3}$/
const withoutPadding = (text: string): string => (padded.test(text) ? text.replace(/\b0{1,2}(?=\d)/g, '') : text)

const hash = /^(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128})$/i

export const readEntry = (raw: string): Reading => {
  if (raw.length > maxLength) return unusable
  const trimmed = withoutPadding(raw.trim())
  const direct = parseRange(trimmed)
  if (direct) return { kind: 'range', range: direct }
  const text = isDefanged(trimmed) ? refang(trimmed) : trimmed
  const range = parseRange(text)
  if (range) return { kind: 'range', range }
  const span = parseSpan(text)
  if (span) return { kind: 'span', span }
  if (/^\/[^/]/.test(text)) return path
  if (text.includes('://') || /[/:?]/.test(text)) {
    const { host, end } = authorityOf(text)
    const address = parseRange(host)
    if (!address) return host === '' ? unusable : siteOf(named(host), text, end)
    // A prefix that is no prefix (198.51.100.0/33) must not turn into the one address before it.
    return !text.includes('://') && /\/\d+$/.test(text) ? unusable : { kind: 'range', range: address }
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

/** The prefixes that cover a span and nothing else; at most 62 of them. */
export const prefixesOf = ({ first, last }: Span): AddressRange[] => {
  const prefixes: AddressRange[] = []
  for (let at = first; at <= last;) {
    // As wide as the place it begins at allows, and as what is left fills.
    let size = 1
    while (at % (size * 2) === 0 && at + size * 2 - 1 <= last && size < 2 ** 32) size *= 2
    prefixes.push({ version: 4, first: at, last: at + size - 1 })
    at += size
  }
  return prefixes
}

/** A row of first address, last address and prefix length that say the same, as DShield's block list has them. */
export const spanOfRow = ([first = '', last = '', bits = '']: readonly string[]): string | undefined => {
  const span = readSpan(first, last)
  return span && /^\d\d?$/.test(bits) && span.last - span.first + 1 === 2 ** (32 - Number(bits))
    ? `${first}-${last}`
    : undefined
}
