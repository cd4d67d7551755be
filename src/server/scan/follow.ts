// Visits a site and follows where it sends a visitor, vetting the address of every hop before connecting to it.
import type { Resolver } from './resolver.js'
import { targetOf, type MayConnect, type Target } from './target.js'
import { visit, type Visit, type VisitLimits } from './visit.js'

export type FollowLimits = VisitLimits & { readonly maxRedirects: number }

type Followed = {
  readonly visits: readonly Visit[]
  /** Why the redirects ended before a page was reached. */
  readonly stopped?: 'unreachable' | 'refused' | 'too_many_redirects'
}

const redirects = new Set([301, 302, 303, 307, 308])

export const follow = async (
  start: Target,
  resolver: Resolver,
  mayConnect: MayConnect,
  limits: FollowLimits,
  signal: AbortSignal,
): Promise<Followed> => {
  const visits: Visit[] = []
  let target: Target = start
  while (visits.length <= limits.maxRedirects) {
    const address = await vettedAddress(target, resolver, mayConnect)
    if (address === undefined) return { visits, stopped: 'unreachable' }
    if (address === false) return { visits, stopped: 'refused' }
    const seen = await visit(target, address, limits, signal)
    if (!seen) return { visits, stopped: 'unreachable' }
    visits.push(seen)
    if (!redirects.has(seen.status) || seen.location === undefined || !URL.canParse(seen.location, seen.url))
      return { visits }
    const next = targetOf(new URL(seen.location, seen.url))
    if (!next) return { visits, stopped: 'refused' }
    target = next
  }
  return { visits, stopped: 'too_many_redirects' }
}

/**
 * The one address that is both checked and connected to. A name with any address that may not be visited is refused as a
 * whole: such a name is set up to reach somewhere it should not.
 */
const vettedAddress = async (
  { host, port, isAddress }: Target,
  resolver: Resolver,
  mayConnect: MayConnect,
): Promise<string | false | undefined> => {
  const addresses = isAddress ? [host] : await resolver.addresses(host)
  if (!addresses.every((address) => mayConnect(address, port, host))) return false
  return addresses[0]
}
