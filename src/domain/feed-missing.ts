// What holds while some configured feed is not in use: accusations stand, but what nobody accuses is neither clean nor unlisted.
import { unknownOf, type Finding, type Unknown } from './finding.js'
import type { Reason } from './reason.js'

/** Reasons that say no more than that nobody lists it, which nobody can say then. */
export const saysNotListed: ReadonlySet<Reason | undefined> = new Set<Reason>([
  'not_listed',
  'feeds_only',
  'not_found',
  'no_verdict',
])

export const whileFeedMissing = (finding: Finding): Finding =>
  finding.status === 'known' ? { ...finding, isFeedMissing: true } : unlisted(finding)

export const unlisted = (finding: Unknown): Unknown => {
  if (!saysNotListed.has(finding.reason)) return finding
  return finding.at === undefined ? unknownOf('feed_missing') : { ...finding, reason: 'feed_missing' }
}
