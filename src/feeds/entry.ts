// Reads one value of a feed: an address, a range, a name or a URL, as feeds write them, defanged or not.
import { parseRange, type Range } from '../domain/address.js'
import { parseHostname } from '../domain/hostname.js'
import { parseSpan, type Span } from './span.js'
import { normalPath } from './url-path.js'

export type Entry =
  | { readonly kind: 'range'; readonly range: Range }
  | { readonly kind: 'span'; readonly span: Span }
  /** The name and everything below it. */
  | { readonly kind: 'name'; readonly name: string }
  /** What a URL accuses: with a path everything that begins with it, without one the host; nothing below the host. */
  | { readonly kind: 'site'; readonly name: string; readonly path: string }

/**
 * ignored: well-formed, but nothing a log line can be matched with (a file hash, a mail address).
 * junk: no entry at all. single: one label, which is a public suffix or a word.
 */
export type Reading = Entry | { readonly kind: 'ignored' } | { readonly kind: 'junk' } | SingleLabel
type SingleLabel = { readonly kind: 'single'; readonly name: string }

const junk: Reading = { kind: 'junk' }
const ignored: Reading = { kind: 'ignored' }
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
    : junk
}

/** A host is the whole name only where it stands by itself, with a port at most. */
const siteOf = (host: Reading, text: string, end: number): Reading => {
  if (host.kind !== 'name') return host
  const path = end < text.length ? normalPath(text.slice(end)) : '/'
  if (path !== '/') return { kind: 'site', name: host.name, path }
  return text.includes('://') || end < text.length ? { kind: 'site', name: host.name, path: '' } : host
}

export const readEntry = (raw: string): Reading => {
  if (raw.length > maxLength) return junk
  const trimmed = raw.trim()
  const direct = parseRange(trimmed)
  if (direct) return { kind: 'range', range: direct }
  const text = isDefanged(trimmed) ? refang(trimmed) : trimmed
  const range = parseRange(text)
  if (range) return { kind: 'range', range }
  const span = parseSpan(text)
  if (span) return { kind: 'span', span }
  if (text.includes('://') || /[/:?]/.test(text)) {
    const { host, end } = authorityOf(text)
    const address = parseRange(host)
    if (!address) return host === '' ? junk : siteOf(named(host), text, end)
    // A prefix that is no prefix (198.51.100.0/33) must not turn into the one address before it.
    return !text.includes('://') && /\/\d+$/.test(text) ? junk : { kind: 'range', range: address }
  }
  if (text.includes('@')) return /^[^@\s]+@[^@\s]+$/.test(text) ? ignored : junk
  if (/^(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128})$/i.test(text)) return ignored
  return named(text)
}
