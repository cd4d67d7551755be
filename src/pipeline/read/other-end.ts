// Gives the one address that is left its role, when words and places told the other end of a connection.
import { isDigit } from './char-code.js'
import type { TextToken } from './clues.js'

/**
 * Beside a source, the only other address that has a port is where it went: `client 192.0.2.1:4711 … backend3:198.51.100.1:443`.
 * Not so an account that is named after a host, nor what belongs to this side.
 */
export const assignOther = (text: string, tokens: readonly TextToken[]): void => {
  let source: TextToken | undefined
  let left: TextToken | undefined
  for (const token of tokens) {
    if (token.role === 'destination') return
    if (token.kind !== 'address') continue
    if (token.role === 'source') source = token
    else if (token.role !== undefined) return
    else if (left !== undefined && left.value !== token.value) return
    else left ??= token
  }
  if (source === undefined || left === undefined || left.value === source.value) return
  if (text.charCodeAt(left.start - 1) === 0x40 || !hasPort(text, left.end) || isOurs(text, left.start)) return
  left.role = 'destination'
  left.isGuess = true
}

/** `:443`, `]:443`, `/443`, `#53`, or a column of its own. */
const hasPort = (text: string, end: number): boolean => {
  const at = text.charCodeAt(end) === 0x5d ? end + 1 : end
  const sign = text.charCodeAt(at)
  const isColumn = sign === 0x09 || sign === 0x20
  if (sign !== 0x3a && sign !== 0x2f && sign !== 0x23 && !isColumn) return false
  let to = at + 1
  while (to - at <= 5 && isDigit(text.charCodeAt(to))) to++
  if (to === at + 1) return false
  const next = text.charCodeAt(to)
  // A prefix length is no port.
  if (sign === 0x2f && to - at <= 3 && Number(text.slice(at + 1, to)) <= 32) return false
  return isColumn ? next === sign || next !== next : !isDigit(next) && next !== 0x2e
}

const isOurs = (text: string, start: number): boolean => ours.test(text.slice(Math.max(0, start - 32), start))
const ours =
  /\b(?:assigned|leased?|pool|loggers?|syslog|via|gateway|nameserver|resolver|ntp|nat(?:ted)?|translated)\b[^.;]{0,20}$/i
