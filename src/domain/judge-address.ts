// Judges the facts about an address for its role.
import { ratings, type Facts, type Rating } from './finding.js'
import type { JudgementTable } from './judgement-table.js'
import type { Role } from './sighting.js'
import { apply, changesAt, countOf, dayMs, type Weight } from './ruling.js'

type Counted = { readonly rating: Rating; readonly word: string; readonly own: boolean }

export const weighAddress = (facts: Facts, role: Role, table: JudgementTable, now: number, weight: Weight): void => {
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
  if (counted?.rating === 'moderate') apply(role === 'destination' ? rows.moderateAsDestination : rows.moderate, weight)

  // A clean score for another role does not make this role clean.
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

/** The provider may not date abuse records; a date, if present, must be recent. */
const abuseCounts = (facts: Facts, table: JudgementTable, now: number, weight: Weight): boolean =>
  (facts.abuseRecords ?? 0) > 0 && (facts.abuseLatest === undefined || recent(facts.abuseLatest, table, now, weight))

const scans = (facts: Facts): boolean =>
  facts.flags.is_scanner === true ||
  facts.flags.is_snort === true ||
  (facts.scanningRecords ?? 0) > 0 ||
  (facts.idsHits ?? 0) > 0

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
}
