// Answers about a domain become facts: a row for each of its hosts, and what a full report adds to one of them.
import { isObject, type AnyObject } from '../base/json-object.js'
import type { Facts, HostReport } from '../domain/finding.js'
import { parseHostname } from '../domain/hostname.js'
import { parseTimestamp } from '../domain/timestamp.js'
import { listingsOf } from './listings.js'
import { domainRating, reportRating } from './rating.js'
import { wholeNumber, flagOf, member, numberOf, textOf } from './read-value.js'

const maxHosts = 128
const maxIssues = 8

type Writable<T> = { -readonly [key in keyof T]: T[key] }

/** The newest report of each host of the domain that was asked about; rows about anything else are left out. */
export const reportsFacts = (answer: unknown, domain: string, now: number): Facts => {
  const data = member(answer, 'data')
  const list = member(data, 'reports')
  const listings = listingsOf(member(data, 'listings'))
  const newestOf = new Map<string, HostReport>()
  for (const row of Array.isArray(list) ? (list as unknown[]).filter(isObject) : []) {
    const host = hostOf(row.url)
    if (host === undefined || (host !== domain && !host.endsWith(`.${domain}`))) continue
    const report = rowReport(row, host, now)
    const known = newestOf.get(host)
    if (known ? (report.at ?? 0) > (known.at ?? 0) : newestOf.size < maxHosts) newestOf.set(host, report)
  }
  return { flags: {}, categories: [], domain, hosts: [...newestOf.values()], ...(listings && { listings }) }
}

const rowReport = (row: AnyObject, host: string, now: number): HostReport => {
  const at = parseTimestamp(row.reg_dtime)
  const scanId = textOf(row.scan_id, 32)
  const rating = reportRating(row.score)
  return {
    host,
    ...(at === undefined ? {} : { at: Math.min(at, now) }),
    ...(scanId === undefined ? {} : { scanId }),
    ...(rating === undefined ? {} : { rating }),
    issues: issuesOf(row.issue ?? row.issues),
  }
}

const issuesOf = (value: unknown): string[] =>
  (Array.isArray(value) ? (value as unknown[]) : []).slice(0, maxIssues).flatMap((issue) => textOf(issue, 48) ?? [])

/** The host of a URL or of a bare name; of several the first, which is the one that was asked for. */
export const hostOf = (value: unknown): string | undefined => {
  const url = Array.isArray(value) ? (value as unknown[])[0] : value
  if (typeof url !== 'string' || url.length > 4096) return undefined
  const text = url.trim()
  const whole = /^[a-z][a-z0-9+.-]{0,15}:\/\//i.test(text) ? text : `http://${text}`
  return URL.canParse(whole) ? parseHostname(new URL(whole).hostname) : undefined
}

/** The clock of a report's own time runs nine hours ahead of UTC. */
const reportClockMs = 9 * 3_600_000

/** What a full report adds to what its row said. */
export const reportFacts = (answer: unknown, row: HostReport, now: number): HostReport => {
  const data = member(answer, 'data')
  const summary = member(data, 'summary')
  const main = member(data, 'main_domain_info')
  const report: Writable<HostReport> = { ...row }
  const score = member(main, 'domain_score') ?? member(data, 'domain_score_new')
  const rating = domainRating(member(score, 'score'), member(score, 'score_percentage'), member(score, 'score_num'))
  if (rating !== undefined) report.rating = rating
  const scanned = parseTimestamp(member(data, 'report_time'))
  if (report.at === undefined && scanned !== undefined) report.at = Math.min(scanned - reportClockMs, now)
  const phishing = wholeNumber(member(summary, 'phishing_record'))
  if (phishing !== undefined) report.phishingRecords = phishing
  const browsing = member(member(data, 'classification'), 'google_safe_browsing')
  if (Array.isArray(browsing)) report.safeBrowsingHits = browsing.length
  const abuse = wholeNumber(member(member(summary, 'abuse_record'), 'critical'))
  if (abuse !== undefined) report.criticalAbuseRecords = abuse
  const probability = numberOf(member(summary, 'url_phishing_prob'))
  if (probability !== undefined) report.phishingProbability = probability
  const dga = numberOf(member(summary, 'dga_score')) ?? numberOf(member(member(data, 'classification'), 'dga_score'))
  if (dga !== undefined) report.dgaScore = dga
  const registered = parseTimestamp(member(summary, 'newborn_domain')) ?? parseTimestamp(member(main, 'domain_created'))
  if (registered !== undefined) report.registeredAt = registered
  const fake = flagOf(member(summary, 'fake_domain'))
  if (fake !== undefined) report.fakeDomain = fake
  const tls = flagOf(member(member(summary, 'fake_ssl'), 'invalid'))
  if (tls !== undefined) report.invalidTls = tls
  return report
}

/** The names a full report says it is about. */
export const reportSubjects = (answer: unknown): string[] => {
  const main = member(member(answer, 'data'), 'main_domain_info')
  return [member(main, 'main_domain'), member(main, 'inserted_url')].flatMap((value) => hostOf(value) ?? [])
}
