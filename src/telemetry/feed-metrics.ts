// Metrics per feed: what it holds, how old it is, and how fetching it goes.
import type { Define, Values } from './define-metrics.js'

/** What is measured of a feed. */
export type FeedMetrics = {
  readonly name: string
  readonly addresses: number
  readonly names: number
  /** Epoch milliseconds when the version in use was written. */
  readonly modified?: number
  readonly skipped: { readonly unusable: number; readonly tooBroad: number; readonly other: number }
  readonly fetch?: { readonly fetches: number; readonly failures: number }
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
  gauge(
    'feed_entries_skipped',
    'Lines and entries of a feed that are not in use.',
    each(({ skipped }) => skipped.unusable + skipped.tooBroad + skipped.other),
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
