// Judges the reports about the hosts of a domain for one of its names.
import type { Facts, HostReport } from './finding.js'
import type { JudgementTable } from './judgement-table.js'
import type { Reason } from './reason.js'
import { apply, changesAt, countOf, dayMs, type Weight } from './ruling.js'

/** Weighs the report for the name; returns a reason if there is none. */
export const weighHost = (
  facts: Facts,
  name: string,
  table: JudgementTable,
  now: number,
  weight: Weight,
): Reason | undefined => {
  if (facts.flags.is_malicious === true) {
    apply(table.rows.reportedMalicious, weight)
    weight.words.push('reported malicious')
  }
  const report = reportFor(facts, name)
  if (!report) {
    if (facts.flags.is_malicious !== false) return 'not_found'
    weight.level = 'clean'
    weight.words.push('not reported malicious')
    return undefined
  }
  // A report without a date cannot be shown to be recent.
  const end = (report.at ?? -Infinity) + table.maxAgeDays * dayMs
  if (now >= end) return 'outdated'
  changesAt(end, now, weight)
  weigh(report, table, now, weight)
  return weight.level === 'unknown' ? 'no_verdict' : undefined
}

/** The newest for exactly this host, else for the registrable domain itself; never another host's. */
const reportFor = ({ hosts = [], domain }: Facts, name: string): HostReport | undefined => {
  const exact = newest(hosts, (host) => host === name)
  if (exact || domain === undefined) return exact
  if (name !== domain && !name.endsWith(`.${domain}`)) return undefined
  return newest(hosts, (host) => host === domain || host === `www.${domain}`)
}

const newest = (hosts: readonly HostReport[], fits: (host: string) => boolean): HostReport | undefined => {
  let best: HostReport | undefined
  for (const report of hosts)
    if (fits(report.host) && (best === undefined || (report.at ?? 0) > (best.at ?? 0))) best = report
  return best
}

const weigh = (report: HostReport, table: JudgementTable, now: number, weight: Weight): void => {
  const { rows } = table
  const evidence = evidenceOf(report, table)
  const signs = signsOf(report, table, now, weight)
  if (report.rating === 'critical') apply(rows.domainCritical, weight)
  if (report.rating === 'dangerous')
    apply(evidence.length > 0 ? rows.domainDangerousWithEvidence : rows.domainDangerous, weight)
  if (report.rating === 'moderate') apply(rows.domainModerate, weight)
  if (signs.length >= table.signs) apply(rows.domainSigns, weight)
  if (weight.level === 'unknown' && (report.rating === 'safe' || report.rating === 'low')) weight.level = 'clean'
  if (report.rating) weight.words.push(`domain score ${report.rating}`)
  weight.words.push(...evidence, ...signs, ...report.issues.slice(0, 3))
}

const evidenceOf = (report: HostReport, table: JudgementTable): string[] => {
  const words: string[] = []
  if (report.phishingRecords) words.push(countOf(report.phishingRecords, 'phishing record'))
  if (report.safeBrowsingHits) words.push(countOf(report.safeBrowsingHits, 'Safe Browsing hit'))
  if (report.criticalAbuseRecords) words.push(countOf(report.criticalAbuseRecords, 'critical abuse record'))
  if (report.phishingProbability !== undefined && report.phishingProbability >= table.phishingProbability)
    words.push(`phishing probability ${report.phishingProbability}`)
  return words
}

const signsOf = (report: HostReport, table: JudgementTable, now: number, weight: Weight): string[] => {
  const words: string[] = []
  if (report.registeredAt !== undefined) {
    const end = report.registeredAt + table.newbornDays * dayMs
    changesAt(end, now, weight)
    if (now < end) words.push('newborn')
  }
  if (report.dgaScore !== undefined && report.dgaScore >= table.dgaScore) words.push('random-looking name')
  if (report.fakeDomain === true) words.push('fake domain')
  if (report.invalidTls === true) words.push('invalid TLS')
  return words
}
