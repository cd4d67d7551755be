// Takes key=value and key:"value" pairs out of a line, whatever separates them, in one pass.
import { isDigit } from './characters.js'

export type Pair = { readonly key: string; readonly value: string; readonly start: number; readonly end: number }

const maxPairs = 1024

const isKeyCode = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) ||
  (code >= 0x41 && code <= 0x5a) ||
  (code >= 0x61 && code <= 0x7a) ||
  code === 0x5f ||
  code === 0x2e ||
  code === 0x2d

/** Pairs with `=`; blanks may stand around it when the key is one of several words (`user IP = 192.0.2.1`). */
export const pairsOf = (text: string): readonly Pair[] => {
  const pairs: Pair[] = []
  let at = 0
  while (at < text.length && pairs.length < maxPairs) {
    const sign = text.indexOf('=', at)
    if (sign < 0) break
    let start = sign
    while (start > at && isKeyCode(text.charCodeAt(start - 1)) && sign - start < 80) start--
    // `cs(User-Agent)="…"`, `SrcIPAddr(1003)=…`
    if (start === sign && text.charCodeAt(sign - 1) === 0x29) {
      const open = text.lastIndexOf('(', sign)
      if (open > at && sign - open < 40) {
        start = open
        while (start > at && isKeyCode(text.charCodeAt(start - 1)) && open - start < 20) start--
      }
    }
    if (start === sign || !beginsKey(text, start)) {
      at = sign + 1
      continue
    }
    const { value, end } = valueAt(text, sign + 1)
    let key = text.slice(start, sign)
    if (text.charCodeAt(sign - 1) === 0x29) key = key.replace(numbered, '')
    // `Peer IP=192.0.2.1 Server IP=198.51.100.1`: whose it is stands before.
    const whose = isOwnerless(key) ? /([A-Za-z]{2,20}) $/.exec(text.slice(Math.max(at, start - 21), start)) : null
    if (whose) key = `${whose[1] ?? ''}_${key}`
    // `from IP=192.0.2.1:4711 (IP=198.51.100.1:389)`: who came, and where to.
    else if (ownerless.test(key) && text.charCodeAt(start - 1) === 0x28 && pairs.at(-1)?.key === `from_${key}`)
      key = `to_${key}`
    pairs.push({ key, value, start: whose ? start - whose[0].length : start, end })
    at = end
  }
  return pairs
}

const numbered = /\(\d{1,8}\)$/
const ownerless = /^(?:ip|ipv[46]|addr|address|host|hostname|name|port)$/i
/** A look at the first letter spares nearly all keys the expression. */
const isOwnerless = (key: string): boolean => {
  const first = key.charCodeAt(0) | 0x20
  if (key.length > 8 || key.length < 2) return false
  return (first === 0x69 || first === 0x61 || first === 0x68 || first === 0x6e || first === 0x70) && ownerless.test(key)
}

/** A key stands at the start or after what separates pairs; `?a=1&b=2` is the query of a URL. */
const beginsKey = (text: string, start: number): boolean => {
  if (start === 0) return true
  const before = text.charCodeAt(start - 1)
  return (
    before <= 0x20 ||
    before === 0x2c || // ,
    before === 0x3b || // ;
    before === 0x7c || // |
    before === 0x5b || // [
    before === 0x28 || // (
    before === 0x7b || // {
    before === 0x5d || // ]
    before === 0x3e || // >
    before === 0x22 || // "
    before === 0x3a // :
  )
}

const valueAt = (text: string, from: number): { value: string; end: number } => {
  const first = text.charCodeAt(from)
  if (first === 0x22 || first === 0x27) {
    const end = closingQuote(text, from + 1, first)
    if (end > 0) return { value: text.slice(from + 1, end), end: end + 1 }
  }
  let end = from
  for (; end < text.length; end++) {
    const code = text.charCodeAt(end)
    if (code <= 0x20 || code === 0x7c) break
    // Commas and semicolons end a value unless it goes on right behind them (`qr,rd,ra`, a list of addresses).
    if ((code === 0x2c || code === 0x3b) && beginsNext(text, end + 1)) break
  }
  // `relay=mail.example.com. [192.0.2.1]`: the name and its address are one value.
  const isRelay = text.startsWith(' [', end) && text.startsWith('relay=', from - 6)
  const aside = isRelay ? /^ \[[\da-fA-F.:]{3,45}\]/.exec(text.slice(end, end + 49)) : null
  if (aside) return { value: text.slice(from, end) + aside[0], end: end + aside[0].length }
  let stop = end
  while (stop > from && (text.charCodeAt(stop - 1) === 0x2c || text.charCodeAt(stop - 1) === 0x3b)) stop--
  // `(identity=alice,from=192.0.2.1)`: what closes was opened before the pair.
  const value = text.slice(from, stop)
  const closes = text.charCodeAt(stop - 1) === 0x29 && !value.includes('(')
  return { value: closes ? value.slice(0, -1) : value, end }
}

/** `,next=` or `, `: what follows a comma is another pair or nothing. */
const beginsNext = (text: string, from: number): boolean => {
  if (from >= text.length || text.charCodeAt(from) <= 0x20) return true
  let at = from
  while (at < text.length && at - from < 64 && isKeyCode(text.charCodeAt(at))) at++
  if (at > from && text.charCodeAt(at) === 0x28) {
    while (++at < text.length && at - from < 72 && text.charCodeAt(at) >= 0x30 && text.charCodeAt(at) <= 0x39);
    if (text.charCodeAt(at) === 0x29) at++
  }
  return at > from && text.charCodeAt(at) === 0x3d
}

/** A quote that a backslash does not escape; the value may hold `""` too. -1 where none closes it. */
export const closingQuote = (text: string, from: number, quote: number): number => {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x5c) at++
    else if (code === quote) return at
  }
  return -1
}

/** `key:"value"; key:"value"` (Check Point) and `key: value, key: value` (Firepower, nginx errors). */
export const colonPairsOf = (text: string): readonly Pair[] => {
  const pairs: Pair[] = []
  let at = 0
  while (at < text.length && pairs.length < maxPairs) {
    const sign = text.indexOf(':', at)
    if (sign < 0) break
    let start = sign
    while (start > at && isKeyCode(text.charCodeAt(start - 1)) && sign - start < 80) start--
    let from = sign + 1
    if (text.charCodeAt(from) === 0x3a) from++ // `methods::"ESP"`
    const next = text.charCodeAt(from)
    // `192.0.2.1: connected`, `2001:db8::a: connected`: no names of anything.
    const isAddress = isDigit(text.charCodeAt(start)) || text.charCodeAt(start - 1) === 0x3a
    const isPair = start < sign && !isAddress && startsColonKey(text, start) && (next === 0x22 || next === 0x20)
    if (!isPair) {
      at = sign + 1
      continue
    }
    if (next === 0x20) from++
    const { value, end } = colonValueAt(text, from)
    // `SCREEN_TCP: SYN flood! source: 192.0.2.1, …`: what names something within is a sentence, and no value.
    if (next === 0x20 && value.includes(': ')) {
      at = sign + 1
      continue
    }
    pairs.push({ key: text.slice(start, sign), value, start, end })
    at = end
  }
  return pairs
}

const startsColonKey = (text: string, start: number): boolean => {
  let at = start - 1
  while (at >= 0 && text.charCodeAt(at) <= 0x20) at--
  if (at < 0) return true
  const before = text.charCodeAt(at)
  return before === 0x3b || before === 0x2c || before === 0x5b || before === 0x7b || before === 0x3a
}

const colonValueAt = (text: string, from: number): { value: string; end: number } => {
  if (text.charCodeAt(from) === 0x22) {
    const end = closingQuote(text, from + 1, 0x22)
    if (end > 0) return { value: text.slice(from + 1, end), end: end + 1 }
  }
  let end = from
  while (end < text.length) {
    const code = text.charCodeAt(end)
    if (code === 0x3b || code === 0x5d || (code === 0x2c && text.charCodeAt(end + 1) === 0x20)) break
    end++
  }
  return { value: text.slice(from, end).trim(), end }
}

/** What stands between the pairs, as one text. */
export const remainder = (text: string, pairs: readonly Pair[]): string => {
  let rest = ''
  let at = 0
  for (const pair of pairs) {
    if (pair.start > at) rest += `${text.slice(at, pair.start)} `
    at = pair.end
  }
  return rest + text.slice(at)
}
