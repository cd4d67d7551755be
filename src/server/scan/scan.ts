// Scans one site: DNS, redirects and certificate; returns a report or the reason of a failure.
import type { JsonObject } from '../answer.js'
import type { Resolver, DnsRecords } from './resolver.js'
import { scanTargetOf, parseTarget, type MayConnect, type ScanTarget } from './target.js'
import { visit, type Visit, type VisitLimits } from './visit.js'
import { composeReport, type ScanSurroundings } from './report.js'

type ScanLimits = FollowLimits & { readonly totalMs: number }
type ScanOutcome =
  { readonly outcome: 'done'; readonly report: JsonObject } | { readonly outcome: 'failed' | 'no_such_domain' }

type ScanDependencies = {
  readonly resolver: Resolver
  readonly mayConnect: MayConnect
  readonly limits: ScanLimits
  readonly surroundings: ScanSurroundings
  readonly now: () => number
}

export type Scanner = (query: string, progress: (percentage: number) => void, stop: AbortSignal) => Promise<ScanOutcome>

export const createScanner = ({ resolver, mayConnect, limits, surroundings, now }: ScanDependencies): Scanner => {
  /** Tries https once on a site that did not redirect to it. */
  const probeTls = async (target: ScanTarget, signal: AbortSignal): Promise<Visit | undefined> => {
    const probe = parseTarget(`https://${target.url.hostname}/`)
    if (!probe) return undefined
    const { visits } = await follow(probe, resolver, mayConnect, { ...limits, maxRedirects: 0 }, signal)
    return visits[0]
  }

  return async (query, progress, stop) => {
    const target = parseTarget(query)
    if (!target) return { outcome: 'failed' }
    const signal = AbortSignal.any([stop, AbortSignal.timeout(limits.totalMs)])
    const records = target.isAddress ? noRecords : await resolver.records(target.host)
    if (!records) return { outcome: 'no_such_domain' }
    progress(30)
    const { visits, stopped } = await follow(target, resolver, mayConnect, limits, signal)
    if (visits.length === 0 || stopped === 'refused') return { outcome: 'failed' }
    progress(70)
    const secure = visits.findLast(({ tls }) => tls !== undefined) ?? (await probeTls(target, signal))
    progress(90)
    return { outcome: 'done', report: composeReport({ target, records, visits, secure, now: now() }, surroundings) }
  }
}

const noRecords: DnsRecords = { ipv4: [], ipv6: [], cname: [], mx: [], ns: [], soa: [], txt: [] }

type FollowLimits = VisitLimits & { readonly maxRedirects: number }

type Followed = {
  readonly visits: readonly Visit[]
  /** Why no page was reached. */
  readonly stopped?: 'unreachable' | 'refused' | 'too_many_redirects'
}

const redirects = new Set([301, 302, 303, 307, 308])

/** Visits a site and follows redirects, vetting the address of every hop before connecting. */
const follow = async (
  start: ScanTarget,
  resolver: Resolver,
  mayConnect: MayConnect,
  limits: FollowLimits,
  signal: AbortSignal,
): Promise<Followed> => {
  const visits: Visit[] = []
  let target: ScanTarget = start
  while (visits.length <= limits.maxRedirects) {
    const address = await vettedAddress(target, resolver, mayConnect)
    if (address === undefined) return { visits, stopped: 'unreachable' }
    if (address === false) return { visits, stopped: 'refused' }
    const seen = await visit(target, address, limits, signal)
    if (!seen) return { visits, stopped: 'unreachable' }
    visits.push(seen)
    if (!redirects.has(seen.status) || seen.location === undefined || !URL.canParse(seen.location, seen.url))
      return { visits }
    const next = scanTargetOf(new URL(seen.location, seen.url))
    if (!next) return { visits, stopped: 'refused' }
    target = next
  }
  return { visits, stopped: 'too_many_redirects' }
}

/**
 * Returns the address to connect to, which is the one that was checked. One forbidden address rejects the whole name,
 * which was set up to reach a forbidden target.
 */
const vettedAddress = async (
  { host, port, isAddress }: ScanTarget,
  resolver: Resolver,
  mayConnect: MayConnect,
): Promise<string | false | undefined> => {
  const addresses = isAddress ? [host] : await resolver.addresses(host)
  if (!addresses.every((address) => mayConnect(address, port, host))) return false
  return addresses[0]
}
