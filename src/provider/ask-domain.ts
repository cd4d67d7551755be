// Asks about a domain: which reports exist of its hosts, and the full report of one of them if wanted.
import { ratings, type Facts, type Finding, type HostReport } from '../domain/finding.js'
import type { Call } from '../domain/lookup.js'
import { registrableDomain } from '../domain/public-suffix.js'
import type { ProviderAnswer } from './client.js'
import { aboutElse } from './classify.js'
import { transmit, type CallContext } from './transmit.js'

export type DomainSettings = {
  readonly maxAgeDays: number
  readonly report: 'never' | 'suspicious' | 'always'
}

/** Never waits: makes the calls that are due, and returns `pending` until there is a result. */
export type StepScan = (name: string, call: Call) => Promise<Finding>

const dayMs = 86_400_000

/** `scan`, where there is one, is asked about names that nobody has a recent report of. */
export const createAskDomain =
  (context: CallContext, settings: DomainSettings, scan?: StepScan) =>
  async (name: string, call: Call): Promise<Finding> => {
    const answer = await transmit(context, call, 'domain/reports', { query: name })
    if (answer.status === 'unknown') return answer
    const now = context.now()
    const at = answer.at ?? now
    const domain = registrableDomain(name) ?? name
    const facts = answer.read.reportsFacts(answer.body, domain, now)
    // What the provider's own lists accuse needs no further call.
    if (facts.listings) return known(facts, at)
    const hosts = facts.hosts ?? []
    const recent = hosts.filter(({ at }) => at !== undefined && now - at < settings.maxAgeDays * dayMs)
    if (scan && !recent.some(({ host }) => host === name || host === domain || host === `www.${domain}`)) {
      const scanned = await scan(name, call)
      if (scanned.status === 'known') return { ...scanned, facts: withRows(scanned.facts, hosts) }
      if (hosts.length === 0 || scanned.reason !== 'not_found') return scanned
    }
    if (hosts.length === 0) return { status: 'unknown', reason: 'not_found', at }
    const row = rowToReport(recent, domain, settings.report)
    const read = row?.scanId === undefined ? undefined : await readReport(context, call, row, row.scanId, domain)
    if (!read) return known(facts, at)
    return known(withRows({ ...facts, hosts: [read.report] }, hosts), Math.min(at, read.at))
  }

const known = (facts: Facts, at: number): Finding => ({ status: 'known', facts, source: 'service', at })

/** Rows of other hosts next to what is known better. */
const withRows = (facts: Facts, rows: readonly HostReport[]): Facts => {
  const better = facts.hosts ?? []
  return { ...facts, hosts: [...better, ...rows.filter((row) => !better.some(({ host }) => host === row.host))] }
}

/** One report at most: of the worst-rated host, else of the domain itself. */
export const rowToReport = (
  rows: readonly HostReport[],
  domain: string,
  wanted: DomainSettings['report'],
): HostReport | undefined => {
  if (wanted === 'never') return undefined
  const rank = (row: HostReport): number => (row.rating === undefined ? 0 : ratings.indexOf(row.rating))
  let worst: HostReport | undefined
  for (const row of rows) if (!worst || rank(row) > rank(worst)) worst = row
  if (worst && rank(worst) >= ratings.indexOf('moderate')) return worst
  if (wanted === 'suspicious') return undefined
  return rows.find(({ host }) => host === domain || host === `www.${domain}`) ?? worst
}

/** Where the report cannot be had, what its row said still holds. */
const readReport = async (
  context: CallContext,
  call: Call,
  row: HostReport,
  id: string,
  domain: string,
): Promise<{ readonly report: HostReport; readonly at: number } | undefined> => {
  const answer = await transmit(context, call, 'domain/report', { id }, domainMisfit(domain))
  if (answer.status === 'unknown') return undefined
  const now = context.now()
  return { report: answer.read.reportFacts(answer.body, row, now), at: answer.at ?? now }
}

export const domainMisfit =
  (domain: string) =>
  ({ body, read }: Pick<ProviderAnswer, 'body' | 'read'>): string | undefined => {
    const subjects = read.reportSubjects(body)
    const isAbout = subjects.length === 0 || subjects.some((host) => host === domain || host.endsWith(`.${domain}`))
    return isAbout ? undefined : aboutElse
  }
