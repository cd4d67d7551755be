// Judges a finding for the role of a sighting: the facts about an address or a host, and the listings of feeds. Pure.
import {
  levels,
  ratings,
  saysNotListed,
  type Level,
  type Listing,
  type Facts,
  type HostReport,
  type Rating,
  type Finding,
  type Known,
} from './finding.js'
import type { Row, JudgementTable } from './judgement-table.js'
import type { Reason } from './reason.js'
import type { Evidence, Role } from './sighting.js'
import type { Indicator } from './indicator.js'
import { classOfCategories, placeOfClass, worstClass, type ThreatClass } from './threat-class.js'
import type { Verdict } from './verdict.js'

export type IndicatorInRole = Indicator & { readonly role: Role; readonly evidence?: Evidence }

export const judge = (finding: Finding, sighting: IndicatorInRole, table: JudgementTable, now: number): Verdict => {
  const verdict = judgeAny(finding, sighting, table, now)
  return sighting.evidence === 'reverse' && accuses(verdict.level) ? withoutAccusation(verdict) : verdict
}

/** A reverse lookup of a listed address proves no contact: the client may be a victim, a firewall writing logs, or an analyst. */
const withoutAccusation = ({ because, source, feed, entry, until }: Verdict): Verdict => ({
  level: 'unknown',
  reason: 'reverse_lookup',
  flags: {},
  because,
  ...(source !== undefined && { source }),
  ...(feed !== undefined && { feed }),
  ...(entry !== undefined && { entry }),
  ...(until !== undefined && { until }),
})

const judgeAny = (finding: Finding, sighting: IndicatorInRole, table: JudgementTable, now: number): Verdict =>
  finding.status === 'unknown'
    ? (unknowns[finding.reason] ?? unknownVerdict(finding.reason))
    : finding.isFeedMissing
      ? withoutAcquittal(verdictOf(finding, rule(finding, sighting, table, now)))
      : verdictOf(finding, rule(finding, sighting, table, now))

/** Also counts the sources that call it malicious or suspicious: the provider, each feed and each source. */
export const judgeCounting: typeof judge = (finding, sighting, table, now) => {
  const verdict = judge(finding, sighting, table, now)
  return finding.status === 'known' && accuses(verdict.level)
    ? { ...verdict, accusers: accusersOf(finding, sighting, table, now) }
    : verdict
}

const accuses = (level: Level): boolean => level === 'malicious' || level === 'suspicious'

const accusersOf = (finding: Known, sighting: IndicatorInRole, table: JudgementTable, now: number): number => {
  const { listings = [], ...own } = finding.facts
  const feeds = new Set(
    listings
      .filter((one) => one.level !== 'flag' && worstListing([one], sighting, now, () => undefined))
      .map(({ feed }) => feed),
  )
  return feeds.size + (accuses(rule({ ...finding, facts: own }, sighting, table, now).level) ? 1 : 0)
}

/** A clean verdict is withdrawn, because the missing feed might list the indicator. */
const withoutAcquittal = (verdict: Verdict): Verdict =>
  verdict.level === 'clean' || saysNotListed.has(verdict.reason) ? unknownVerdict('feed_missing') : verdict

/** The worst level for any role and any host of a domain; it determines the TTL of facts. */
export const worstLevel = (finding: Finding, indicator: Indicator, table: JudgementTable, now: number): Level => {
  if (finding.status === 'unknown') return 'unknown'
  const names =
    indicator.type === 'ip'
      ? [indicator.value]
      : new Set([
          indicator.value,
          ...(finding.facts.hosts ?? []).map(({ host }) => host),
          ...(finding.facts.listings ?? []).map(hostOfListing),
        ])
  const roles: readonly Role[] = indicator.type === 'ip' ? ['source', 'destination', 'other'] : ['other']
  let worst = levels.length - 1
  for (const value of names)
    for (const role of roles)
      worst = Math.min(worst, levels.indexOf(rule(finding, { type: indicator.type, value, role }, table, now).level))
  return levels[worst] ?? 'unknown'
}

/** A ruling: the judgement of facts for one role, before source and time are added. */
type Ruling = {
  readonly level: Level
  readonly reason?: Reason
  readonly score?: number
  readonly threatClass?: ThreatClass
  readonly because: string
  readonly feed?: string
  readonly entry?: string
  readonly listing?: Listing
  readonly listings?: readonly Listing[] | undefined
  /** Epoch milliseconds from which the same facts may be judged differently. */
  readonly until: number
}

/** The judgement so far; the worst row wins. */
type Weight = { level: Level; score: number | undefined; readonly words: string[]; until: number }

const nothingYet = (): Weight => ({ level: 'unknown', score: undefined, words: [], until: Infinity })

const severity = (level: Level): number => levels.length - levels.indexOf(level)

const worse = (level: Level, score: number | undefined, than: Weight): boolean =>
  severity(level) > severity(than.level) || (level === than.level && (score ?? -1) > (than.score ?? -1))

const apply = (row: Row, weight: Weight): void => {
  if (row.level === 'flag' || !worse(row.level, row.score, weight)) return
  weight.level = row.level
  weight.score = row.score
}

/** The ruling expires at this moment if it is in the future. */
const changesAt = (moment: number, now: number, weight: Weight): void => {
  if (moment > now && moment < weight.until) weight.until = moment
}

const dayMs = 86_400_000

const countOf = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`

type Counted = { readonly rating: Rating; readonly word: string; readonly own: boolean }

/** Judges the facts about an address for its role. */
const weighAddress = (facts: Facts, role: Role, table: JudgementTable, now: number, weight: Weight): void => {
  const { flags } = facts
  const { rows } = table
  const counted = scoreFor(facts, role)
  const category = facts.categories.find((name) => isBad(name, table.categories))
  const abuse = abuseCounts(facts, table, now, weight)
  const ids = recent(facts.idsLatest, table, now, weight)

  if (flags.is_malicious === true) apply(rows.reportedMalicious, weight)
  if (counted?.rating === 'critical') apply(flags.is_malicious === false ? rows.criticalDenied : rows.critical, weight)
  if (counted?.rating === 'dangerous')
    apply(category !== undefined || abuse || ids ? rows.dangerousWithEvidence : rows.dangerous, weight)
  if (category !== undefined) apply(rows.badCategory, weight)
  if (flags.is_tor === true || flags.is_darkweb === true) apply(rows.hidden, weight)
  if (scans(facts)) apply(role === 'source' ? rows.scannerAsSource : rows.scanner, weight)
  if (anonymises(facts)) apply(rows.anonymizer, weight)
  if (facts.details?.exposes) apply(rows.exposed, weight)
  if (facts.details?.vulnerabilities) apply(rows.vulnerable, weight)
  if (flags.is_safe_dns_server === false) apply(rows.unsafeNameServer, weight)
  if (counted?.rating === 'moderate') apply(role === 'destination' ? rows.moderateAsDestination : rows.moderate, weight)

  // A clean score for another role does not make this one clean.
  const isStated = flags.is_malicious !== undefined || counted?.own === true
  if (weight.level === 'unknown' && isStated) weight.level = 'clean'
  describeFacts(facts, counted, weight.words)
}

/** Inbound for a source, outbound for a destination; otherwise the higher one, one level lower. */
const scoreFor = (facts: Facts, role: Role): Counted | undefined => {
  const { inbound, outbound } = facts
  if (role === 'source' && inbound) return { rating: inbound, word: 'inbound', own: true }
  if (role === 'destination' && outbound) return { rating: outbound, word: 'outbound', own: true }
  const high = Math.max(rank(inbound), rank(outbound))
  if (high < 0) return undefined
  return {
    rating: ratings[Math.max(high - 1, 0)] ?? 'safe',
    word: rank(inbound) === high ? 'inbound' : 'outbound',
    own: role !== 'source' && role !== 'destination',
  }
}

const rank = (rating: Rating | undefined): number => (rating === undefined ? -1 : ratings.indexOf(rating))

const isBad = (category: string, bad: readonly string[]): boolean => {
  const name = category.toLowerCase()
  const bracket = name.indexOf('(')
  return bad.includes(name) || (bracket > 0 && bad.includes(name.slice(0, bracket).trimEnd()))
}

const recent = (at: number | undefined, table: JudgementTable, now: number, weight: Weight): boolean => {
  if (at === undefined) return false
  const end = at + table.evidenceDays * dayMs
  changesAt(end, now, weight)
  return now < end
}

/** Abuse records may lack a date; a date, if present, must be recent. */
const abuseCounts = (facts: Facts, table: JudgementTable, now: number, weight: Weight): boolean =>
  (facts.abuseRecords ?? 0) > 0 && (facts.abuseLatest === undefined || recent(facts.abuseLatest, table, now, weight))

const scans = (facts: Facts): boolean =>
  facts.flags.is_scanner === true ||
  facts.flags.is_snort === true ||
  (facts.scanningRecords ?? 0) > 0 ||
  (facts.idsHits ?? 0) > 0

const anonymises = ({ flags }: Facts): boolean =>
  flags.is_vpn === true || flags.is_anonymous_vpn === true || flags.is_proxy === true

const describeFacts = (facts: Facts, counted: Counted | undefined, words: string[]): void => {
  const { flags } = facts
  if (flags.is_malicious === true) words.push('reported malicious')
  if (flags.is_malicious === false) words.push('not reported malicious')
  const given = counted && (counted.word === 'inbound' ? facts.inbound : facts.outbound)
  if (counted && given && (counted.own || given !== 'safe')) words.push(`${counted.word} score ${given}`)
  if (facts.categories.length > 0) words.push(`category ${facts.categories.slice(0, 4).join(', ')}`)
  if (facts.abuseRecords) words.push(countOf(facts.abuseRecords, 'abuse record'))
  if (facts.idsHits) words.push(countOf(facts.idsHits, 'intrusion-detection hit'))
  if (facts.scanningRecords) words.push(countOf(facts.scanningRecords, 'scanning record'))
  if (flags.is_tor === true) words.push('Tor')
  if (flags.is_darkweb === true) words.push('dark web')
  if (flags.is_scanner === true) words.push('scanner')
  if (flags.is_snort === true) words.push('in intrusion-detection rules')
  if (facts.details?.exposes) words.push(`exposes ${facts.details.exposes.join(', ').replaceAll('_', ' ')}`)
}

/** Judges the reports about the hosts of a domain for one of its names; returns a reason if there is none for it. */
const weighHost = (
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

/** The newest report for exactly this host, else for the registrable domain; never for another host. */
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

const rule = (finding: Known, sighting: IndicatorInRole, table: JudgementTable, now: number): Ruling => {
  const { facts } = finding
  const weight = nothingYet()
  let reason: Reason | undefined
  if (sighting.type === 'ip') weighAddress(facts, sighting.role, table, now, weight)
  else reason = weighHost(facts, sighting.value, table, now, weight)
  const listing = worstListing(facts.listings, sighting, now, (moment) => changesAt(moment, now, weight))
  if (listing) weight.words.push(describeListing(listing))
  const { until } = weight
  const because = weight.words.join(', ')
  if (listing && listing.level !== 'flag' && worse(listing.level, listing.score, weight))
    return {
      level: listing.level,
      ...(listing.score === undefined ? {} : { score: listing.score }),
      threatClass: classOf(facts, weight.level, listing.level, sighting, listing),
      because,
      feed: listing.feed,
      entry: listing.entry,
      listing,
      listings: allListings(facts.listings, sighting, now),
      until,
    }
  if (weight.level === 'unknown') {
    if (listing) {
      const { feed, entry } = listing
      const listings = allListings(facts.listings, sighting, now)
      return { level: 'unknown', reason: 'safeguarded', because, feed, entry, listing, listings, until }
    }
    const why = finding.without ?? (finding.source.startsWith('feed:') ? 'not_listed' : (reason ?? 'no_verdict'))
    const { clearedBy = [] } = facts
    if (clearedBy.length > 0 && saysNothing.has(why))
      return { level: 'clean', because: [...weight.words, `clean by ${clearedBy.join(', ')}`].join(', '), until }
    return { level: 'unknown', reason: why, because: because || words(why), until }
  }
  return {
    level: weight.level,
    ...(weight.score === undefined ? {} : { score: weight.score }),
    ...(accuses(weight.level) && { threatClass: classOf(facts, weight.level, weight.level, sighting, listing) }),
    because,
    until,
  }
}

/** The worst class among the sources at the decided level: the worst listing, and the facts if their own level `own` is as bad. */
const classOf = (
  facts: Facts,
  own: Level,
  level: Level,
  sighting: IndicatorInRole,
  listing: Listing | undefined,
): ThreatClass => {
  const listed = listing?.level === level ? classOfCategories(listing.categories) : undefined
  return own === level ? worstClass(listed, classOfFacts(facts, sighting)) : (listed ?? 'uncategorized')
}

/** The class from facts of the provider; flags count like categories. */
const classOfFacts = (facts: Facts, { type, value }: IndicatorInRole): ThreatClass => {
  const { flags } = facts
  const isNoise = scans(facts) || noises.some((flag) => flags[flag] === true)
  const report = type === 'domain' ? reportFor(facts, value) : undefined
  const isHarmful =
    (report?.phishingRecords ?? 0) + (report?.safeBrowsingHits ?? 0) + (report?.criticalAbuseRecords ?? 0) > 0
  return classOfCategories([...facts.categories, ...(isNoise ? ['scanner'] : []), ...(isHarmful ? ['phishing'] : [])])
}
const noises = ['is_tor', 'is_darkweb', 'is_vpn', 'is_anonymous_vpn', 'is_proxy'] as const

/** Reasons without an opinion, which an explicit clean from a source may replace. */
const saysNothing: ReadonlySet<Reason> = new Set<Reason>(['not_found', 'no_verdict', 'not_listed'])

const worstListing = (
  listings: readonly Listing[] | undefined,
  sighting: IndicatorInRole,
  now: number,
  expires: (moment: number) => void,
): Listing | undefined => {
  let worst: Listing | undefined
  for (const listing of listings ?? []) {
    if (sighting.type === 'domain' && !isAbout(listing, sighting.value)) continue
    if (listing.expires !== undefined) {
      if (listing.expires <= now) continue
      expires(listing.expires)
    }
    if (!worst || isWorse(listing, worst)) worst = listing
  }
  return worst
}

const maxListings = 8

/** All listings, worst first; undefined if there is only one, which is the usual case. */
const allListings = (
  listings: readonly Listing[] = [],
  sighting: IndicatorInRole,
  now: number,
): readonly Listing[] | undefined => {
  if (listings.length < 2) return undefined
  return listings
    .filter((one) => worstListing([one], sighting, now, () => undefined))
    .toSorted((one, other) => (isWorse(one, other) ? -1 : isWorse(other, one) ? 1 : 0))
    .slice(0, maxListings)
}

/** An entry with a slash is a URL and concerns its host only. */
const hostOfListing = ({ entry }: Listing): string => (entry.includes('/') ? entry.slice(0, entry.indexOf('/')) : entry)

/** Facts about a domain may contain listings of several hosts below it. */
const isAbout = (listing: Listing, name: string): boolean => {
  const host = hostOfListing(listing)
  return host === name || (host === listing.entry && name.endsWith(`.${host}`))
}

const ranks = { malicious: 2, suspicious: 1, flag: 0 } as const

/** Compares by level, then by class, so that a second listing cannot hide a serious class, then by score. */
const isWorse = (one: Listing, other: Listing): boolean => {
  const byLevel = ranks[one.level] - ranks[other.level]
  if (byLevel !== 0) return byLevel > 0
  const byClass = placeOfClass(classOfCategories(other.categories)) - placeOfClass(classOfCategories(one.categories))
  return byClass !== 0 ? byClass > 0 : (one.score ?? -1) > (other.score ?? -1)
}

const describeListing = ({ feed, entry, categories, level, evidence, isPartial }: Listing): string => {
  const what = evidence === undefined ? `listed in ${feed} as ${entry}` : `${feed}: ${evidence}`
  const why = categories.length > 0 ? ` (${categories.slice(0, 4).join(', ')})` : ''
  const only = isPartial ? `, for that ${entry.includes('/') ? 'URL' : 'port'} alone` : ''
  return `${what}${why}${only}${level === 'flag' ? '; safeguarded' : ''}`
}

const verdictOf = (finding: Known, ruling: Ruling): Verdict => {
  const { level, reason, score, threatClass, because, feed, entry, listing, listings, until } = ruling
  const { facts } = finding
  const isBySource = listing?.at !== undefined
  const categories = listing?.categories ?? facts.categories
  const stale = isBySource ? listing.stale : finding.stale
  return {
    level,
    ...(reason === undefined ? {} : { reason }),
    ...(score === undefined ? {} : { score }),
    ...(threatClass === undefined ? {} : { threatClass }),
    flags: facts.described === undefined ? facts.flags : { ...facts.described, ...facts.flags },
    because,
    ...(level !== 'unknown' && categories.length > 0 && { categories }),
    ...(facts.details !== undefined && { details: facts.details }),
    source: feed === undefined ? finding.source : `feed:${feed}`,
    at: listing?.at ?? finding.at,
    ...(stale === undefined ? {} : { stale }),
    ...(feed === undefined ? {} : { feed }),
    ...(entry === undefined ? {} : { entry }),
    ...(listing === undefined ? {} : { listing }),
    ...(listings !== undefined && listings.length > 1 && { listings }),
    ...(until === Infinity ? {} : { until }),
  }
}

const words = (reason: Reason): string => reason.replaceAll('_', ' ')

const unknowns: { [reason in Reason]?: Verdict } = {}
const unknownVerdict = (reason: Reason): Verdict =>
  (unknowns[reason] = { level: 'unknown', reason, flags: {}, because: words(reason) })
