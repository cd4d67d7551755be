// Caches the short texts that recur in events, each with the host it spells and whether searching it would find anything.
import { parseAddress } from '../../domain/address.js'
import { parseHostname } from '../../domain/hostname.js'
import type { IndicatorType } from '../../domain/indicator.js'
import { hashOf, isSpelt } from '../json-grammar.js'
import { scanTokens } from './tokens.js'
import { plainText } from './url.js'
import { isBareName } from './value.js'

type KnownText = {
  readonly text: string
  /** Set if the whole text is an address or a name in its plain spelling; other texts take a closer look. */
  readonly type: IndicatorType | undefined
  /** The host in its normal form. */
  readonly value: string
  readonly isWorthSearching: boolean
}

const longest = 64
/** A power of two. Each text has one slot, and the latest text there replaces the one before. */
const slots = 16_384

/** Returns the text of these bytes, which must be ASCII; undefined for a long text. */
export const createKnownTexts = (): ((bytes: Buffer, from: number, to: number) => KnownText | undefined) => {
  const known = new Array<KnownText | undefined>(slots).fill(undefined)
  return (bytes, from, to) => {
    if (to - from > longest) return undefined
    const hash = hashOf(bytes, from, to)
    const slot = (hash ^ (hash >>> 15)) & (slots - 1)
    const last = known[slot]
    return last && isSpelt(last.text, bytes, from, to)
      ? last
      : (known[slot] = describe(bytes.toString('latin1', from, to)))
  }
}

const describe = (text: string): KnownText => {
  const address = parseAddress(text)
  const name = address === undefined && text.includes('.') && isBareName(text) ? parseHostname(text) : undefined
  const type = address !== undefined ? 'ip' : name !== undefined ? 'domain' : undefined
  let isWorthSearching = false
  scanTokens(plainText(text), () => !(isWorthSearching = true))
  return { text, type, value: address ?? name ?? '', isWorthSearching }
}
