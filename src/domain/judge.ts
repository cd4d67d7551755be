// Facts become a verdict for the role an indicator plays in one event; nothing is asked and nothing is remembered but the last results.
import { weighAddress } from './judge-address.js'
import { weighHost } from './judge-host.js'
import { levels, type Facts, type Finding, type Known, type Level, type Listing } from './finding.js'
import type { Indicator } from './indicator.js'
import type { JudgementTable } from './judgement-table.js'
import type { Reason } from './reason.js'
import { changesAt, nothingYet, worse, type Ruling } from './ruling.js'
import type { Role } from './sighting.js'
import type { Verdict } from './verdict.js'

export type Judged = Indicator & { readonly role: Role }

export const judge = (finding: Finding, sighting: Judged, table: JudgementTable, now: number): Verdict => {
  if (finding.status === 'unknown') return unknowns[finding.reason] ?? unknownVerdict(finding.reason)
  const slot = slotOf(finding.facts, sighting)
  let entry = slot.get(sighting.type === 'ip' ? sighting.role : sighting.value)
  if (!entry || entry.table !== table || now < entry.from || now >= entry.ruling.until) {
    const ruling = rule(finding, sighting, table, now)
    entry = { ruling, table, from: now, finding, verdict: verdictOf(finding, ruling) }
    if (slot.size >= slotLimit) slot.clear()
    slot.set(sighting.type === 'ip' ? sighting.role : sighting.value, entry)
  } else if (entry.finding !== finding) {
    entry.finding = finding
    entry.verdict = verdictOf(finding, entry.ruling)
  }
  return entry.verdict
}

/** The worst that any role, and for a domain any of its hosts, can be told: it decides how long facts are kept. */
export const worstLevel = (finding: Finding, indicator: Indicator, table: JudgementTable, now: number): Level => {
  if (finding.status === 'unknown') return 'unknown'
  const names =
    indicator.type === 'ip'
      ? [indicator.value]
      : new Set([indicator.value, ...(finding.facts.hosts ?? []).map(({ host }) => host)])
  const roles: readonly Role[] = indicator.type === 'ip' ? ['source', 'destination', 'other'] : ['other']
  let worst = levels.length - 1
  for (const value of names)
    for (const role of roles)
      worst = Math.min(worst, levels.indexOf(rule(finding, { type: indicator.type, value, role }, table, now).level))
  return levels[worst] ?? 'unknown'
}

/** The same facts are met again with every event that shows the indicator; keyed by facts, so that a copy marked stale finds them too. */
type Entry = { ruling: Ruling; table: JudgementTable; from: number; finding: Known; verdict: Verdict }
const slots = { ip: new WeakMap<Facts, Map<string, Entry>>(), domain: new WeakMap<Facts, Map<string, Entry>>() }
const slotLimit = 64

const slotOf = (facts: Facts, { type }: Indicator): Map<string, Entry> => {
  const known = slots[type].get(facts)
  if (known) return known
  const slot = new Map<string, Entry>()
  slots[type].set(facts, slot)
  return slot
}

const rule = (finding: Known, sighting: Judged, table: JudgementTable, now: number): Ruling => {
  const { facts } = finding
  const weight = nothingYet()
  let reason: Reason | undefined
  if (sighting.type === 'ip') weighAddress(facts, sighting.role, table, now, weight)
  else reason = weighHost(facts, sighting.value, table, now, weight)
  const listing = worstListing(facts.listings, now, (moment) => changesAt(moment, now, weight))
  if (listing) weight.words.push(describeListing(listing))
  const { until } = weight
  const because = weight.words.join(', ')
  if (listing && worse(listing.level, listing.score, weight))
    return {
      level: listing.level,
      ...(listing.score === undefined ? {} : { score: listing.score }),
      because,
      feed: listing.feed,
      entry: listing.entry,
      until,
    }
  if (weight.level === 'unknown') {
    const why = finding.source.startsWith('feed:') ? 'not_listed' : (reason ?? 'no_verdict')
    return { level: 'unknown', reason: why, because: because || words(why), until }
  }
  return { level: weight.level, ...(weight.score === undefined ? {} : { score: weight.score }), because, until }
}

const worstListing = (
  listings: readonly Listing[] | undefined,
  now: number,
  expires: (moment: number) => void,
): Listing | undefined => {
  let worst: Listing | undefined
  for (const listing of listings ?? []) {
    if (listing.expires !== undefined) {
      if (listing.expires <= now) continue
      expires(listing.expires)
    }
    if (!worst || rankOf(listing) > rankOf(worst)) worst = listing
  }
  return worst
}

const rankOf = ({ level, score }: Listing): number => (level === 'malicious' ? 1000 : 0) + (score ?? -1)

const describeListing = ({ feed, entry, categories }: Listing): string =>
  `listed in ${feed} as ${entry}${categories.length > 0 ? ` (${categories.slice(0, 4).join(', ')})` : ''}`

const verdictOf = (finding: Known, ruling: Ruling): Verdict => {
  const { level, reason, score, because, feed, entry, until } = ruling
  return {
    level,
    ...(reason === undefined ? {} : { reason }),
    ...(score === undefined ? {} : { score }),
    flags: finding.facts.flags,
    because,
    source: feed === undefined ? finding.source : `feed:${feed}`,
    at: finding.at,
    ...(finding.stale === undefined ? {} : { stale: finding.stale }),
    ...(feed === undefined ? {} : { feed }),
    ...(entry === undefined ? {} : { entry }),
    ...(until === Infinity ? {} : { until }),
  }
}

const words = (reason: Reason): string => reason.replaceAll('_', ' ')

const unknowns: { [reason in Reason]?: Verdict } = {}
const unknownVerdict = (reason: Reason): Verdict =>
  (unknowns[reason] = { level: 'unknown', reason, flags: {}, because: words(reason) })
