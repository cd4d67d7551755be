// Reads the counts per feed from the metrics of a `run` with the same configuration.
import type { Config } from '../config/schema.js'

/** For each feed, the values by metric name without the prefix. */
export type CountedUse = ReadonlyMap<string, Readonly<Record<string, number>>>

const wanted =
  /^threatweave_feed_(entries_seen|events|events_held_back|alerts|only_alerts|listed_ratio)(?:_total)?\{feed="([^"\\]*)"\} (\S+)$/gm
const waitMs = 1_000

/** Undefined if no answer comes, usually because nothing runs here. */
export const readFeedUse = async ({ ops }: Config): Promise<CountedUse | undefined> => {
  if (!ops.enabled) return undefined
  const host = ops.host === '0.0.0.0' || ops.host === '::' ? '127.0.0.1' : ops.host
  const text = await fetch(`http://${host.includes(':') ? `[${host}]` : host}:${ops.port}/metrics`, {
    signal: AbortSignal.timeout(waitMs),
    redirect: 'error',
  }).then(
    (answer) => (answer.ok ? answer.text() : undefined),
    () => undefined,
  )
  if (text === undefined) return undefined
  const feeds = new Map<string, Record<string, number>>()
  for (const [, name = '', feed = '', value] of text.matchAll(wanted)) {
    const known = feeds.get(feed) ?? {}
    feeds.set(feed, known)
    known[name] = Number(value)
  }
  return feeds.size === 0 ? undefined : feeds
}
