// Which part of a name somebody registered, by the list of public suffixes, private ones such as github.io included.
import { parse } from 'tldts'
import { ownText } from './own-text.js'

export type PublicSuffix = {
  /** Whether the name ends in a suffix of the list; `.corp` and the like do not. */
  readonly isListed: boolean
  /** What was registered below the suffix; absent when the name is itself a suffix. */
  readonly registrable?: string
}

const options = {
  allowPrivateDomains: true,
  extractHostname: false,
  validateHostname: false,
  detectIp: false,
  mixedInputs: false,
}

const find = (host: string): PublicSuffix => {
  const { isIcann, isPrivate, domain } = parse(host, options)
  const isListed = isIcann === true || isPrivate === true
  return domain === null ? { isListed } : { isListed, registrable: domain }
}

/** Names come in bursts of the same few; the memo is emptied when full, so that it can never grow. */
const maxRemembered = 4096
const remembered = new Map<string, PublicSuffix>()

/** `host` is a name in its normal form. */
export const publicSuffix = (host: string): PublicSuffix => {
  const known = remembered.get(host)
  if (known !== undefined) return known
  const own = ownText(host)
  const found = find(own)
  if (remembered.size >= maxRemembered) remembered.clear()
  remembered.set(own, found)
  return found
}

export const registrableDomain = (host: string): string | undefined => publicSuffix(host).registrable

/** Whether a name ends in a suffix of the list, ICANN's or private. */
export const hasPublicSuffix = (host: string): boolean => publicSuffix(host).isListed
