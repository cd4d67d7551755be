// Spans: IPv4 ranges written by their first and last address, as the prefixes that cover them and nothing else.
import { readAddress, type Range } from '../domain/address.js'

export type Span = { readonly first: number; readonly last: number }

const readSpan = (firstText: string, lastText: string): Span | undefined => {
  const first = readAddress(firstText)
  const last = readAddress(lastText)
  if (typeof first !== 'number' || typeof last !== 'number' || last < first) return undefined
  return { first, last }
}

/** `192.0.2.1-192.0.2.40`, with spaces around the dash or without. */
export const parseSpan = (text: string): Span | undefined => {
  const dash = text.indexOf('-')
  return dash < 0 ? undefined : readSpan(text.slice(0, dash).trimEnd(), text.slice(dash + 1).trimStart())
}

/** At most 62 of them, whatever the span. */
export const prefixesOf = ({ first, last }: Span): Range[] => {
  const prefixes: Range[] = []
  for (let at = first; at <= last;) {
    // As wide as the place it begins at allows, and as what is left fills.
    let size = 1
    while (at % (size * 2) === 0 && at + size * 2 - 1 <= last && size < 2 ** 32) size *= 2
    prefixes.push({ version: 4, first: at, last: at + size - 1 })
    at += size
  }
  return prefixes
}

/** A row of first address, last address and prefix length that say the same, as block lists with columns have them. */
export const spanOfRow = ([first = '', last = '', bits = '']: readonly string[]): string | undefined => {
  const span = readSpan(first, last)
  return span && /^\d\d?$/.test(bits) && span.last - span.first + 1 === 2 ** (32 - Number(bits))
    ? `${first}-${last}`
    : undefined
}
