// Parses and normalises host names: lower case, no trailing dot, punycode.
import { domainToASCII } from 'node:url'
import { parseAddress } from './address.js'

const dot = 46
const hyphen = 45
const underscore = 95
const maxLength = 253
const maxLabelLength = 63
/** An international name may be longer than its punycode, up to this limit. */
const maxUnicodeLength = 1024

/** A host has at least two labels and a clean registrable part; a suffix may be a single label. */
type Kind = 'host' | 'suffix'

/** Checks ASCII text up to `end` and lowers its case; one pass, no allocation when it is already lower case. */
const checkAscii = (text: string, end: number, kind: Kind): string | undefined => {
  if (end < 1 || end > maxLength) return undefined
  let labels = 1
  let labelStart = 0
  let hasUpper = false
  // The last label with an underscore, and with a hyphen at its edge.
  let blemishedLabel = 0
  let allDigits = true
  for (let i = 0; i <= end; i++) {
    const code = i < end ? text.charCodeAt(i) : dot
    if (code === dot) {
      const length = i - labelStart
      if (length === 0 || length > maxLabelLength) return undefined
      if (text.charCodeAt(labelStart) === hyphen || text.charCodeAt(i - 1) === hyphen) blemishedLabel = labels
      if (i === end) break
      labels++
      labelStart = i + 1
      allDigits = true
      continue
    }
    if (code >= 97 && code <= 122) allDigits = false
    else if (code >= 65 && code <= 90) {
      hasUpper = true
      allDigits = false
    } else if (code === hyphen) allDigits = false
    else if (code === underscore) {
      blemishedLabel = labels
      allDigits = false
    } else if (code < 48 || code > 57) return undefined
  }
  if (allDigits) return undefined
  if (kind === 'host' && (labels < 2 || (blemishedLabel > 0 && blemishedLabel > labels - 2))) return undefined
  const name = end === text.length ? text : text.slice(0, end)
  return hasUpper ? name.toLowerCase() : name
}

const isAscii = (text: string): boolean => {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 127) return false
  return true
}

const check = (text: string, kind: Kind): string | undefined =>
  checkAscii(text, text.charCodeAt(text.length - 1) === dot ? text.length - 1 : text.length, kind)

const normalise = (text: string, kind: Kind): string | undefined => {
  const name = check(text, kind)
  if (name !== undefined || text.length > maxUnicodeLength || isAscii(text)) return name
  return check(domainToASCII(text), kind)
}

/**
 * The normal form of text that is exactly a host name of at least two labels. Underscores and hyphens at a label's edge exist in
 * DNS and are allowed, except in the last two labels, which are registered.
 */
export const parseHostname = (text: string): string | undefined => normalise(text, 'host')

/** The normal form of a domain suffix; a single label and a leading dot or `*.` are allowed. */
export const parseSuffix = (text: string): string | undefined =>
  normalise(text.startsWith('*.') ? text.slice(2) : text.startsWith('.') ? text.slice(1) : text, 'suffix')

/** Whether the text is a domain suffix; a single label is allowed. */
export const isSuffix = (text: string): boolean => parseSuffix(text) !== undefined

const reverse4 = '.in-addr.arpa'
const reverse6 = '.ip6.arpa'

/** The address of a complete reverse name (`…in-addr.arpa`, `…ip6.arpa`). */
export const reverseNameToAddress = (host: string): string | undefined => {
  if (host.endsWith(reverse4)) {
    const octets = host.slice(0, -reverse4.length).split('.')
    return octets.length === 4 ? parseAddress(octets.reverse().join('.')) : undefined
  }
  if (host.length !== 63 + reverse6.length || !host.endsWith(reverse6)) return undefined
  const nibbles = host.slice(0, -reverse6.length).split('.').reverse()
  if (nibbles.length !== 32 || !nibbles.every((nibble) => nibble.length === 1)) return undefined
  return parseAddress(nibbles.map((nibble, i) => (i > 0 && i % 4 === 0 ? `:${nibble}` : nibble)).join(''))
}
