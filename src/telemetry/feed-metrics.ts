// Metrics per feed: what it holds, how old it is, and how fetching it goes.
import type { Skipped } from '../domain/skipped.js'
import type { Define, Values } from './define-metrics.js'

/** What is measured of a feed. */
export type FeedMetrics = {
  readonly name: string
  readonly state: string
  readonly addresses: number
  readonly names: number
  /** Epoch milliseconds when the version in use was written. */
  readonly modified?: number
  readonly skipped: Skipped
  readonly fetch?: {
    readonly fetches: number
    readonly failures: number
    readonly read?: { readonly pages: number; readonly objects: number } | undefined
  }
}

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
    feeds().flatMap(({ name: feed, addresses, names }) => [
      { labels: { feed, type: 'ip' }, value: addresses },
      { labels: { feed, type: 'domain' }, value: names },
    ]),
  )
  gauge(
    'feed_age_seconds',
    'Time since the version of a feed in use was written or fetched.',
    each(({ modified }) => (modified === undefined ? undefined : Math.max(0, now() - modified) / 1000)),
  )
  gauge('feed_entries_skipped', 'What is in the file of a feed and not in use, by reason.', () =>
    feeds().flatMap(({ name: feed, skipped }) =>
      Object.entries(skipped).map(([reason, value]) => ({ labels: { feed, reason }, value })),
    ),
  )
  gauge(
    'feed_empty',
    '1 where a feed is in use and holds no entry, 0 where it holds some.',
    each(({ state }) => (state === 'empty' ? 1 : state === 'loaded' ? 0 : undefined)),
  )
  gauge(
    'feed_objects_read',
    'Objects of a feed that is read page by page.',
    each(({ fetch }) => fetch?.read?.objects),
  )
  gauge(
    'feed_pages_read',
    'Pages of a feed that is read page by page.',
    each(({ fetch }) => fetch?.read?.pages),
  )
  counter(
    'feed_fetches',
    'Fetches of a feed, answered or not.',
    each(({ fetch }) => fetch?.fetches),
  )
  counter(
    'feed_fetch_failures',
    'Fetches of a feed that failed or were refused.',
    each(({ fetch }) => fetch?.failures),
  )
}
