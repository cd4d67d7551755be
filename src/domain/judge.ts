// Judges a finding for the role of a sighting. Pure.
import { weighAddress } from './judge-address.js'
import { weighHost } from './judge-host.js'
import { saysNotListed } from './feed-missing.js'
import { levels, type Finding, type Known, type Level, type Listing } from './finding.js'
import type { Indicator } from './indicator.js'
import type { JudgementTable } from './judgement-table.js'
import type { Reason } from './reason.js'
import { changesAt, nothingYet, worse, type Ruling } from './ruling.js'
import type { Role } from './sighting.js'
import type { Verdict } from './verdict.js'

export type IndicatorInRole = Indicator & { readonly role: Role }

export const judge = (finding: Finding, sighting: IndicatorInRole, table: JudgementTable, now: number): Verdict =>
  finding.status === 'unknown'
    ? (unknowns[finding.reason] ?? unknownVerdict(finding.reason))
    : finding.isFeedMissing
      ? withoutAcquittal(verdictOf(finding, rule(finding, sighting, table, now)))
      : verdictOf(finding, rule(finding, sighting, table, now))

/** A feed that is not in use may list it. */
const withoutAcquittal = (verdict: Verdict): Verdict =>
  verdict.level === 'clean' || saysNotListed.has(verdict.reason) ? unknownVerdict('feed_missing') : verdict

/** The worst level for any role and any host of a domain; it determines how long facts are kept. */
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
      because,
      feed: listing.feed,
      entry: listing.entry,
      listing,
      until,
    }
  if (weight.level === 'unknown') {
    if (listing) {
      const { feed, entry } = listing
      return { level: 'unknown', reason: 'safeguarded', because, feed, entry, until }
    }
    const why = finding.source.startsWith('feed:') ? 'not_listed' : (reason ?? 'no_verdict')
    return { level: 'unknown', reason: why, because: because || words(why), until }
  }
  return { level: weight.level, ...(weight.score === undefined ? {} : { score: weight.score }), because, until }
}

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
    if (!worst || rankOf(listing) > rankOf(worst)) worst = listing
  }
  return worst
}

/** An entry with a slash is a URL and concerns its host only. */
const hostOfListing = ({ entry }: Listing): string => (entry.includes('/') ? entry.slice(0, entry.indexOf('/')) : entry)

/** Facts about a domain may contain listings of several hosts below it. */
const isAbout = (listing: Listing, name: string): boolean => {
  const host = hostOfListing(listing)
  return host === name || (host === listing.entry && name.endsWith(`.${host}`))
}

const ranks = { malicious: 1000, suspicious: 0, flag: -1000 } as const
const rankOf = ({ level, score }: Listing): number => ranks[level] + (score ?? -1)

const describeListing = ({ feed, entry, categories, level }: Listing): string =>
  `listed in ${feed} as ${entry}${categories.length > 0 ? ` (${categories.slice(0, 4).join(', ')})` : ''}${level === 'flag' ? '; safeguarded' : ''}`

const verdictOf = (finding: Known, ruling: Ruling): Verdict => {
  const { level, reason, score, because, feed, entry, listing, until } = ruling
  const { facts } = finding
  return {
    level,
    ...(reason === undefined ? {} : { reason }),
    ...(score === undefined ? {} : { score }),
    flags: facts.flags,
    because,
    ...(level !== 'unknown' && facts.categories.length > 0 && { categories: facts.categories }),
    source: feed === undefined ? finding.source : `feed:${feed}`,
    at: finding.at,
    ...(finding.stale === undefined ? {} : { stale: finding.stale }),
    ...(feed === undefined ? {} : { feed }),
    ...(entry === undefined ? {} : { entry }),
    ...(listing === undefined ? {} : { listing }),
    ...(until === Infinity ? {} : { until }),
  }
}

const words = (reason: Reason): string => reason.replaceAll('_', ' ')

const unknowns: { [reason in Reason]?: Verdict } = {}
const unknownVerdict = (reason: Reason): Verdict =>
  (unknowns[reason] = { level: 'unknown', reason, flags: {}, because: words(reason) })
