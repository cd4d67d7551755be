// The registrable part of a name, by the public suffix list including private suffixes such as github.io.
import { createBoundedCache, ownText } from '../base/bounded-cache.js'
import { parse } from 'tldts'

type PublicSuffix = {
  /** Whether the name has a listed suffix; `.corp` is not one. */
  readonly isListed: boolean
  /** The name is a suffix under which a registry registers names (`co.uk`): nobody's, unlike `github.io`. */
  readonly isRegistry?: boolean
  /** The registered domain; absent if the name is itself a suffix. */
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
 * A name is a host where it is a suffix only because a private rule with a wildcard says so of every name at its place:
 * `ec2-203-0-113-7.compute-1.amazonaws.com` by `*.compute-1.amazonaws.com`. A registry's wildcards (`*.ck`) are suffixes.
 */
export const isHostBelowWildcard = (name: string): boolean => {
  const { isPrivate, domain } = parse(name, options)
  if (isPrivate !== true || domain !== null) return false
  return parse(`no-such-label${name.slice(name.indexOf('.'))}`, options).domain === null
}

/** The same few names come again and again. */
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
