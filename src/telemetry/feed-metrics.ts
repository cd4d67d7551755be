// Metrics per feed: entries, age, use and fetches.
import { entryKinds, type EntryCounts } from '../domain/entry-counts.js'
import type { Skipped } from '../domain/skipped.js'
import type { Define, Values } from './define-metrics.js'
import type { FeedUse } from './feed-use.js'

/** The measurements of a feed. */
export type FeedMetrics = EntryCounts & {
  readonly name: string
  readonly state: string
  /** Epoch milliseconds when the version in use was written. */
  readonly modified?: number
  /** Epoch milliseconds of its newest entry; absent if the list has no dates. */
  readonly newestEntry?: number
  /** Only in processes that annotate events. */
  readonly use?: FeedUse | undefined
  readonly skipped: Skipped
  readonly fetch?: {
    readonly fetches: number
    readonly failures: number
    readonly read?: { readonly pages: number; readonly objects: number } | undefined
  }
}

const types = { addresses: 'ip', endpoints: 'ip_port', names: 'domain', urls: 'url' } as const

export const defineFeedMetrics = (
  { counter, gauge }: Define,
  feeds: () => readonly FeedMetrics[],
  now: () => number,
): void => {
  const each = (read: (feed: FeedMetrics) => number | undefined) => (): Values =>
    feeds().flatMap((feed) => {
      const value = read(feed)
      return value === undefined ? [] : [{ labels: { feed: feed.name }, value }]
    })
  gauge('feed_entries', 'Entries of a feed in use, by type.', () =>
    feeds().flatMap((feed) =>
      entryKinds.map((kind) => ({ labels: { feed: feed.name, type: types[kind] }, value: feed[kind] })),
    ),
  )
  gauge(
    'feed_age_seconds',
    'Time since the version of a feed in use was written or fetched.',
    each(({ modified }) => (modified === undefined ? undefined : Math.max(0, now() - modified) / 1000)),
  )
  gauge(
    'feed_newest_entry_age_seconds',
    'Age of the newest entry of a feed, for lists with dates.',
    each(({ newestEntry }) => (newestEntry === undefined ? undefined : Math.max(0, now() - newestEntry) / 1000)),
  )
  gauge(
    'feed_entries_seen',
    'Distinct entries of a feed that matched events, to within a few percent.',
    each(({ use }) => use?.entriesSeen),
  )
  counter(
    'feed_events',
    'Events with an indicator that a feed lists.',
    each(({ use }) => use?.events),
  )
  counter(
    'feed_events_held_back',
    'Events with a listing that the safeguard held back.',
    each(({ use }) => use?.heldBack),
  )
  counter(
    'feed_alerts',
    'Alerts about an indicator that a feed lists.',
    each(({ use }) => use?.alerts),
  )
  counter(
    'feed_only_alerts',
    'Alerts for which a feed was the only source.',
    each(({ use }) => use?.onlyAlerts),
  )
  gauge(
    'feed_listed_ratio',
    'The listed share of the distinct public addresses in events, from 0 to 1.',
    each(({ use }) => use?.share),
  )
  gauge('feed_entries_skipped', 'Skipped entries of a feed file, by reason.', () =>
    feeds().flatMap(({ name: feed, skipped }) =>
      Object.entries(skipped).map(([reason, value]) => ({ labels: { feed, reason }, value })),
    ),
  )
  gauge(
    'feed_empty',
    '1 if a feed in use has no entries, otherwise 0.',
    each(({ state }) => (state === 'empty' ? 1 : state === 'loaded' ? 0 : undefined)),
  )
  gauge(
    'feed_objects_read',
    'Objects read from a paged feed.',
    each(({ fetch }) => fetch?.read?.objects),
  )
  gauge(
    'feed_pages_read',
    'Pages read from a paged feed.',
    each(({ fetch }) => fetch?.read?.pages),
  )
  counter(
    'feed_fetches',
    'Fetches of a feed, including failed ones.',
    each(({ fetch }) => fetch?.fetches),
  )
  counter(
    'feed_fetch_failures',
    'Fetches of a feed that failed or were refused.',
    each(({ fetch }) => fetch?.failures),
  )
}
