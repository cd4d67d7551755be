// The short texts that events hold again and again: each is looked at once, for the host it spells and for what a search finds in it.
import { parseAddress } from '../../domain/address.js'
import { createBoundedCache } from '../../domain/bounded-cache.js'
import { parseHostname } from '../../domain/hostname.js'
import type { IndicatorType } from '../../domain/indicator.js'
import { ownText } from '../../domain/own-text.js'
import { scanTokens } from './tokens.js'
import { plainText } from './url.js'
import { isBareName } from './value.js'

type KnownText = {
  /** Set where the whole text is an address or a name in its plain spelling; elsewhere it takes a closer look. */
  readonly type: IndicatorType | undefined
  /** The host in its normal form. */
  readonly value: string
  /** Whether somebody who searches it as text finds anything. */
  readonly isWorthSearching: boolean
}

const longest = 64

/** Nothing is known of a long text. */
export const createKnownTexts = (): ((text: string) => KnownText | undefined) => {
  const met = createBoundedCache<string, KnownText>(16_384)
  return (text) => {
    if (text.length > longest) return undefined
    const known = met.get(text)
    if (known !== undefined) return known
    const own = ownText(text)
    const made = describe(own)
    met.set(own, made)
    return made
  }
}

const describe = (text: string): KnownText => {
  const address = parseAddress(text)
  const name = address === undefined && text.includes('.') && isBareName(text) ? parseHostname(text) : undefined
  const type = address !== undefined ? 'ip' : name !== undefined ? 'domain' : undefined
  let isWorthSearching = false
  scanTokens(plainText(text), () => !(isWorthSearching = true))
  return { type, value: address ?? name ?? '', isWorthSearching }
}
