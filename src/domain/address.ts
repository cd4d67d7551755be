// Parses and formats IP addresses and CIDR ranges.

/** An IPv6 address as four 32-bit words, most significant first. */
export type Words = readonly [number, number, number, number]

/** An IPv4 address is one unsigned 32-bit number; an IPv4-mapped IPv6 address is the IPv4 address. */
export type Address = number | Words

/** From first to last, both included. */
export type AddressRange =
  | { readonly version: 4; readonly first: number; readonly last: number }
  | { readonly version: 6; readonly first: Words; readonly last: Words }

const dot = 46
const zero = 48
const colon = 58

/** Zone ids are interface names; real ones are shorter. */
const maxZoneLength = 32
const maxIPv6Length = 45

/** Four decimal numbers without leading zeros, which some readers take for octal; -1 for anything else. */
const readIPv4 = (text: string, start: number, end: number): number => {
  if (end - start < 7 || end - start > 15) return -1
  let address = 0
  let octet = -1
  let dots = 0
  for (let i = start; i < end; i++) {
    const code = text.charCodeAt(i)
    if (code === dot) {
      if (octet < 0 || ++dots > 3) return -1
      address = address * 256 + octet
      octet = -1
      continue
    }
    const digit = code - zero
    if (digit < 0 || digit > 9 || octet === 0) return -1
    octet = octet < 0 ? digit : octet * 10 + digit
    if (octet > 255) return -1
  }
  return dots === 3 && octet >= 0 ? address * 256 + octet : -1
}

const hexDigit = (code: number): number => {
  if (code >= zero && code <= 57) return code - zero
  const letter = code | 32
  return letter >= 97 && letter <= 102 ? letter - 87 : -1
}

const isZone = (text: string, start: number): boolean => {
  if (start >= text.length || text.length - start > maxZoneLength) return false
  for (let i = start; i < text.length; i++) {
    const code = text.charCodeAt(i)
    const isWord = (code >= zero && code <= 57) || ((code | 32) >= 97 && (code | 32) <= 122)
    if (!isWord && code !== dot && code !== 45 && code !== 95 && code !== 126) return false
  }
  return true
}

/** The groups before a `::` count from the front, those after it from the back. */
const readIPv6 = (text: string): Address | undefined => {
  const mark = text.indexOf('%')
  if (mark >= 0 && !isZone(text, mark + 1)) return undefined
  const end = mark >= 0 ? mark : text.length
  if (end < 2 || end > maxIPv6Length) return undefined
  const groups: Groups = [0, 0, 0, 0, 0, 0, 0, 0]
  let count = 0
  let gap = -1
  let dotted = false
  let i = 0
  if (text.charCodeAt(0) === colon) {
    if (text.charCodeAt(1) !== colon) return undefined
    gap = 0
    i = 2
  }
  while (i < end) {
    const from = i
    let group = 0
    let code = 0
    for (; i < end; i++) {
      code = text.charCodeAt(i)
      const digit = hexDigit(code)
      if (digit < 0) break
      group = group * 16 + digit
    }
    if (i < end && code === dot) {
      const quad = readIPv4(text, from, end)
      if (quad < 0 || count > 6) return undefined
      groups[count++] = quad >>> 16
      groups[count++] = quad & 0xffff
      dotted = true
      break
    }
    if (i === from || i - from > 4 || count === 8) return undefined
    groups[count++] = group
    if (i === end) break
    if (code !== colon || ++i === end) return undefined
    if (text.charCodeAt(i) === colon) {
      if (gap >= 0) return undefined
      gap = count
      i++
    }
  }
  if (gap < 0 ? count !== 8 : count > 7) return undefined
  if (gap >= 0) groups.copyWithin(8 - (count - gap), gap, count).fill(0, gap, 8 - (count - gap))
  return fromGroups(groups, dotted)
}

type Groups = [number, number, number, number, number, number, number, number]

const fromGroups = ([a, b, c, d, e, f, g, h]: Groups, dotted: boolean): Address => {
  const low = g * 0x10000 + h
  if (a === 0 && b === 0 && c === 0 && d === 0 && e === 0) {
    if (f === 0xffff) return low
    // Only the dotted form is IPv4-compatible; `::1` and `::1234:5678` are not.
    if (f === 0 && dotted && low >= 0x1000000) return low
  }
  return [a * 0x10000 + b, c * 0x10000 + d, e * 0x10000 + f, low]
}

/** Parses text that is exactly one address. */
export const readAddress = (text: string): Address | undefined => {
  const quad = readIPv4(text, 0, text.length)
  if (quad >= 0) return quad
  return text.length > 1 && text.length <= maxIPv6Length + 1 + maxZoneLength && text.includes(':')
    ? readIPv6(text)
    : undefined
}

const formatIPv4 = (address: number): string =>
  `${String(address >>> 24)}.${String((address >>> 16) & 255)}.${String((address >>> 8) & 255)}.${String(address & 255)}`

/** RFC 5952: lower case, no leading zeros, the first longest run of two or more zero groups as `::`. */
const formatIPv6 = (words: Words): string => {
  const group = (i: number): number => {
    const word = words[(i >> 1) as 0 | 1 | 2 | 3]
    return i % 2 === 0 ? word >>> 16 : word & 0xffff
  }
  let runStart = 8
  let runLength = 1
  for (let i = 0; i < 8; i++) {
    const start = i
    while (i < 8 && group(i) === 0) i++
    if (i - start > runLength) {
      runStart = start
      runLength = i - start
    }
  }
  let text = ''
  for (let i = 0; i < 8; i++) {
    if (i === runStart) {
      text += '::'
      i += runLength - 1
    } else text += i === 0 || i === runStart + runLength ? group(i).toString(16) : `:${group(i).toString(16)}`
  }
  return text
}

export const formatAddress = (address: Address): string =>
  typeof address === 'number' ? formatIPv4(address) : formatIPv6(address)

/**
 * The normal form of text that is exactly one address: RFC 5952, without zone id, IPv4-mapped as IPv4.
 * Leading zeros in a dotted quad (`010.1.2.3`) are refused: readers disagree on what they mean.
 */
export const parseAddress = (text: string): string | undefined => {
  if (readIPv4(text, 0, text.length) >= 0) return text
  const address = readAddress(text)
  return address === undefined ? undefined : formatAddress(address)
}

const rangeIPv4 = (address: number, bits: number): AddressRange => {
  const size = 2 ** (32 - bits)
  const first = address - (address % size)
  return { version: 4, first, last: first + size - 1 }
}

const rangeIPv6 = (words: Words, bits: number): AddressRange => {
  const hostSize = (word: number): number => 2 ** Math.min(32, Math.max(0, 32 * (word + 1) - bits))
  const first = (word: 0 | 1 | 2 | 3): number => words[word] - (words[word] % hostSize(word))
  const last = (word: 0 | 1 | 2 | 3): number => first(word) + hostSize(word) - 1
  return { version: 6, first: [first(0), first(1), first(2), first(3)], last: [last(0), last(1), last(2), last(3)] }
}

/** An address, or a range written as address/bits; bits below the prefix are ignored. No zone ids. */
export const parseRange = (text: string): AddressRange | undefined => {
  const slash = text.indexOf('/')
  const head = slash < 0 ? text : text.slice(0, slash)
  if (head.includes('%')) return undefined
  const address = readAddress(head)
  if (address === undefined) return undefined
  const isIPv4 = typeof address === 'number'
  const written = head.includes(':') ? 128 : 32
  let bits: number = written
  if (slash >= 0) {
    const digits = text.slice(slash + 1)
    if (!/^(0|[1-9]\d{0,2})$/.test(digits)) return undefined
    bits = Number(digits)
    if (bits > written) return undefined
  }
  if (!isIPv4) return rangeIPv6(address, bits)
  if (written === 32) return rangeIPv4(address, bits)
  // `::ffff:10.0.0.0/104` is 10.0.0.0/8; a prefix that reaches beyond the mapped part names no IPv4 range.
  return bits >= 96 ? rangeIPv4(address, bits - 96) : undefined
}

/** An address, or a range written as address/bits. */
export const isCidr = (text: string): boolean => parseRange(text) !== undefined
