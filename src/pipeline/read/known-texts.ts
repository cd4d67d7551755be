// The short texts that events hold again and again: each is made once, with the host it spells.
import { parseAddress } from '../../domain/address.js'
import { parseHostname } from '../../domain/hostname.js'
import type { IndicatorType } from '../../domain/indicator.js'
import { scanTokens } from './tokens.js'
import { plainText } from './url.js'
import { isBareName } from './value.js'

export type KnownText = {
  readonly text: string
  /** Set where the whole text is an address or a name in its plain spelling; elsewhere it takes a closer look. */
  readonly type: IndicatorType | undefined
  /** The host in its normal form. */
  readonly value: string
  /** Whether somebody who searches it as text finds anything. */
  readonly isWorthSearching: boolean
}

export type KnownTexts = {
  /** The text of these bytes, which are ASCII. */
  readonly at: (bytes: Buffer, from: number, to: number) => KnownText
}

const maxLength = 64
/** A power of two. Each text has one seat, and a newcomer takes it: no bound is ever passed and nothing has to be cleared away. */
const seats = 32_768

export const createKnownTexts = (): KnownTexts => {
  const met: (KnownText | undefined)[] = new Array<KnownText | undefined>(seats).fill(undefined)
  return {
    at: (bytes, from, to) => {
      const length = to - from
      if (length > maxLength)
        return { text: bytes.toString('latin1', from, to), type: undefined, value: '', isWorthSearching: true }
      let hash = length
      for (let at = from; at < to; at++) hash = (Math.imul(hash, 31) + (bytes[at] ?? 0)) | 0
      const seat = (hash ^ (hash >>> 15)) & (seats - 1)
      const known = met[seat]
      if (known !== undefined && isText(known.text, bytes, from, length)) return known
      return (met[seat] = describe(bytes.toString('latin1', from, to)))
    },
  }
}

const isText = (text: string, bytes: Buffer, from: number, length: number): boolean => {
  if (text.length !== length) return false
  for (let at = 0; at < length; at++) if (text.charCodeAt(at) !== bytes[from + at]) return false
  return true
}

const describe = (text: string): KnownText => {
  const address = parseAddress(text)
  const name = address === undefined && text.includes('.') && isBareName(text) ? parseHostname(text) : undefined
  const type = address !== undefined ? 'ip' : name !== undefined ? 'domain' : undefined
  let isWorthSearching = false
  scanTokens(plainText(text), () => {
    isWorthSearching = true
    return false
  })
  return { text, type, value: address ?? name ?? '', isWorthSearching }
}
