// Converts answers about a domain into facts: a row per host, and the additional facts of a full report.
import type { Facts, HostReport } from '../domain/finding.js'
import { parseHostname } from '../domain/hostname.js'
import type { ReportPlaces, ReportRowPlaces } from '../domain/service-profile.js'
import { countAt, flagAt, numberAt, textAt, textsAt, timeAt, valueAt, valuesOf, type RatingAt } from './fact-at.js'
import { listingsOf } from './listings.js'

const maxHosts = 128
const maxIssues = 8

export type ReportReader = {
  /** The newest report of each host of the domain; rows about other domains are dropped. */
  readonly reportsFacts: (answer: unknown, domain: string, now: number) => Facts
  /** All rows, in their order. */
  readonly reportRows: (answer: unknown, now: number) => readonly HostReport[]
  /** Adds the facts of a full report to its row. */
  readonly reportFacts: (answer: unknown, row: HostReport, now: number) => HostReport
  /** The names that a full report covers. */
  readonly reportSubjects: (answer: unknown) => string[]
}

export const createReportReader = (rows: ReportRowPlaces, report: ReportPlaces, ratingAt: RatingAt): ReportReader => {
  const rowsOf = valuesOf(rows.rows)
  const row = {
    url: valueAt(rows.url),
    at: timeAt(rows.at),
    scanId: textAt(rows.scanId, 64),
    rating: ratingAt(rows.rating),
    issues: textsAt(rows.issues, { most: maxIssues, maxLength: 48 }),
    listings: valueAt(rows.listings),
  }
  const readRow = (value: unknown, now: number): HostReport | undefined => {
    const host = hostOf(row.url(value))
    if (host === undefined) return undefined
    const at = row.at(value)
    const scanId = row.scanId(value)
    const rating = row.rating(value)
    return {
      host,
      ...(at === undefined ? {} : { at: Math.min(at, now) }),
      ...(scanId === undefined ? {} : { scanId }),
      ...(rating === undefined ? {} : { rating }),
      issues: row.issues(value),
    }
  }
  const reportRows = (answer: unknown, now: number): readonly HostReport[] =>
    rowsOf(answer).flatMap((value) => readRow(value, now) ?? [])
  const reading = {
    rating: ratingAt(report.rating),
    at: timeAt(report.at),
    phishingRecords: countAt(report.phishingRecords),
    safeBrowsingHits: countAt(report.safeBrowsingHits),
    criticalAbuseRecords: countAt(report.criticalAbuseRecords),
    phishingProbability: numberAt(report.phishingProbability),
    dgaScore: numberAt(report.dgaScore),
    registeredAt: timeAt(report.registeredAt),
    fakeDomain: flagAt(report.fakeDomain),
    invalidTls: flagAt(report.invalidTls),
  }
  const aheadMs = (report.atHoursAhead ?? 0) * 3_600_000
  const subjects = valuesOf(report.subject)

  return {
    reportRows,
    reportsFacts: (answer, domain, now) => {
      const listings = listingsOf(row.listings(answer))
      const newestOf = new Map<string, HostReport>()
      for (const each of reportRows(answer, now)) {
        const { host } = each
        if (host !== domain && !host.endsWith(`.${domain}`)) continue
        const known = newestOf.get(host)
        if (known ? (each.at ?? 0) > (known.at ?? 0) : newestOf.size < maxHosts) newestOf.set(host, each)
      }
      return { flags: {}, categories: [], domain, hosts: [...newestOf.values()], ...(listings && { listings }) }
    },
    reportFacts: (answer, known, now) => {
      const { rating: ratingOf, at: scannedAt, ...others } = reading
      const said: Record<string, unknown> = {}
      for (const [name, read] of Object.entries(others)) {
        const value = read(answer)
        if (value !== undefined) said[name] = value
      }
      const rating = ratingOf(answer)
      const scanned = known.at === undefined ? scannedAt(answer) : undefined
      return {
        ...known,
        ...(said as Partial<HostReport>),
        ...(rating !== undefined && { rating }),
        ...(scanned !== undefined && { at: Math.min(scanned - aheadMs, now) }),
      }
    },
    reportSubjects: (answer) => subjects(answer).flatMap((value) => hostOf(value) ?? []),
  }
}

/** The host of a URL or of a bare name; of several the first, which is the requested one. */
const hostOf = (value: unknown): string | undefined => {
  const url = Array.isArray(value) ? (value as unknown[])[0] : value
  if (typeof url !== 'string' || url.length > 4096) return undefined
  const text = url.trim()
  const whole = /^[a-z][a-z0-9+.-]{0,15}:\/\//i.test(text) ? text : `http://${text}`
  return URL.canParse(whole) ? parseHostname(new URL(whole).hostname) : undefined
}
