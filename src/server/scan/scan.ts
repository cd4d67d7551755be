// One scan of one site: DNS, the redirects, the certificate; its outcome is a report or the reason why there is none.
import type { JsonObject } from '../answer.js'
import { follow, type FollowLimits } from './follow.js'
import { composeReport } from './report.js'
import type { ScanSurroundings } from './seen.js'
import type { DnsRecords, Resolver } from './resolver.js'
import { parseTarget, type MayConnect, type Target } from './target.js'
import type { Visit } from './visit.js'

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
  /** A site that never switched to TLS is asked once whether it would. */
  const probeTls = async (target: Target, signal: AbortSignal): Promise<Visit | undefined> => {
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
