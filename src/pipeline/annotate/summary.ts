// The flat members of an annotation: the verdict and the deciding indicator.
import type { AddressDetails } from '../../domain/address-details.js'
import type { Activity } from '../../domain/activity.js'
import type { AnnotatedIndicator, AnnotationSummary, Status, ContentKind } from '../../domain/annotation.js'
import { flags } from '../../domain/flag.js'
import type { Level } from '../../domain/finding.js'
import type { Action, Direction, Extraction } from '../../domain/sighting.js'
import type { Verdict } from '../../domain/verdict.js'
import { clip } from './clip.js'
import { describeListing } from '../../domain/describe-listing.js'
import { wasSkipped } from './indicator.js'

/** What the summary depends on besides the deciding indicator. */
export type SummaryInput = {
  readonly status: Status
  readonly direction: Direction
  readonly action: Action
  readonly activity: Activity
  readonly passwordAccepted: boolean
  readonly truncated: boolean
  readonly unread: Extraction['unread']
  readonly reading: ContentKind | undefined
  readonly format: string | undefined
}

type Deciding = { readonly indicator: AnnotatedIndicator; readonly verdict: Verdict }

export const summarise = (deciding: Deciding | undefined, about: SummaryInput): AnnotationSummary => {
  const { status, direction, action, activity, passwordAccepted, truncated, unread, reading, format } = about
  const verdict: Level = deciding?.indicator.verdict ?? 'unknown'
  const summary: AnnotationSummary = {
    schema_version: 1,
    status,
    verdict,
    direction,
    action,
    activity,
    summary: sentenceOf(deciding, truncated, unread),
  }
  if (passwordAccepted) summary.password_accepted = true
  if (verdict === 'malicious') summary.malicious = true
  else if (verdict === 'clean') summary.malicious = false
  if (deciding !== undefined) copyDeciding(summary, deciding)
  else if (unread !== undefined) summary.reason = unread
  else if (truncated) summary.reason = 'truncated'
  if (truncated) summary.truncated = true
  if (reading !== undefined && reading !== 'json') summary.read_as = reading
  if (format !== undefined) summary.format = format
  return summary
}

const maxCategories = 4
/** Limit on listings, because an annotation has 4 KB; alerts list more. */
const maxListings = 4
const clipped = { feed: 64, entry: 100, categories: 2, category: 40 } as const

const sentences = {
  no_schema: 'the value could not be read: there is no schema for it',
  not_decoded: 'the value could not be read: it is not what its schema or the format of its topic says',
} as const

const sentenceOf = (deciding: Deciding | undefined, truncated: boolean, unread: Extraction['unread']): string => {
  const isPart = truncated || unread !== undefined
  const cut = unread === undefined ? 'not every indicator was checked' : sentences[unread]
  if (deciding === undefined) return isPart ? cut : 'no indicators found'
  const { indicator, verdict } = deciding
  const verb = wasSkipped(indicator) ? 'was not looked up' : `is ${indicator.verdict}`
  const why = clip(verdict.because, 180) || indicator.reason?.replaceAll('_', ' ')
  let text = `${indicator.value} ${verb}`
  if (why !== undefined) text += `: ${why}`
  if (indicator.stale === true) text += ', stale'
  return isPart ? `${text}; ${cut}` : text
}

const copyDetails = (summary: AnnotationSummary, details: AddressDetails): void => {
  const { owner, openPorts, vulnerabilities, exposes } = details
  if (owner !== undefined) summary.owner = clip(owner, 100)
  if (openPorts !== undefined) summary.open_ports = openPorts
  if (vulnerabilities !== undefined) summary.vulnerabilities = vulnerabilities
  if (exposes !== undefined) summary.exposes = exposes
}

const copyDeciding = (summary: AnnotationSummary, { indicator, verdict }: Deciding): void => {
  summary.type = indicator.type
  summary.value = indicator.value
  summary.field = indicator.field
  summary.role = indicator.role
  if (indicator.score !== undefined) summary.score = indicator.score
  if (indicator.threat_class !== undefined) summary.threat_class = indicator.threat_class
  if (indicator.reason !== undefined) summary.reason = indicator.reason
  if (indicator.country !== undefined) summary.country = indicator.country
  if (indicator.as !== undefined) summary.as = indicator.as
  if (verdict.details !== undefined) copyDetails(summary, verdict.details)
  if (indicator.source !== undefined) summary.source = indicator.source
  if (indicator.feed !== undefined) summary.feed = indicator.feed
  if (indicator.entry !== undefined) summary.entry = indicator.entry
  if (verdict.listings !== undefined)
    summary.listings = verdict.listings.slice(0, maxListings).map((one) => describeListing(one, clipped))
  if (indicator.at !== undefined) summary.verdict_time = indicator.at
  if (indicator.stale !== undefined) summary.stale = indicator.stale
  if (indicator.former) summary.former = true
  if (verdict.accusers !== undefined) summary.accusers = verdict.accusers
  const { categories = [] } = verdict
  if (categories.length > 0) summary.categories = categories.slice(0, maxCategories).map((name) => clip(name, 48))
  for (const flag of flags) {
    const stated = verdict.flags[flag]
    if (stated !== undefined) summary[flag] = stated
  }
}
