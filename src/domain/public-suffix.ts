// The registrable part of a name, by the public suffix list including private suffixes such as github.io.
import { createBoundedCache, ownText } from '../base/bounded-cache.js'
import { parse } from 'tldts'

type PublicSuffix = {
  /** Whether the name has a listed suffix; `.corp` is not one. */
  readonly isListed: boolean
  /** The name is a suffix of a registry (`co.uk`), which has no owner, unlike `github.io`. */
  readonly isRegistry?: boolean
  /** The registrable domain; absent if the name is itself a suffix. */
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
  return domain === null
    ? { isListed, isRegistry: isIcann === true && isPrivate !== true }
    : { isListed, registrable: domain }
}

/**
 * True for a host that is a suffix only because of a private wildcard rule:
 * `ec2-203-0-113-7.compute-1.amazonaws.com` by `*.compute-1.amazonaws.com`. Wildcards of registries (`*.ck`) are real suffixes.
 */
export const isHostBelowWildcard = (name: string): boolean => {
  const { isPrivate, domain } = parse(name, options)
  if (isPrivate !== true || domain !== null) return false
  return parse(`no-such-label${name.slice(name.indexOf('.'))}`, options).domain === null
}

/** Logs repeat a few names, so a small cache is enough. */
const cached = createBoundedCache<string, PublicSuffix>(2048)

/** `host` is a name in its normal form. */
export const publicSuffix = (host: string): PublicSuffix => {
  const known = cached.get(host)
  if (known !== undefined) return known
  const own = ownText(host)
  const found = find(own)
  cached.set(own, found)
  return found
}

export const registrableDomain = (host: string): string | undefined => publicSuffix(host).registrable

/** Whether a name ends in a suffix of the list, ICANN's or private. */
export const hasPublicSuffix = (host: string): boolean => publicSuffix(host).isListed
