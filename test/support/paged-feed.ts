// A feed that is fetched page by page, on a clock that the test controls.
import { onTestFinished } from 'vitest'
import type { FeedSettings } from '../../src/feeds/feed.js'
import { openFeeds, type Feeds } from '../../src/feeds/open-feeds.js'
import { createDownload } from '../../src/provider/download.js'
import type { TelemetryEvent } from '../../src/telemetry/event.js'
import { createFakeClock, newYear, type FakeClock } from './clock.js'

export type OpenedFeed = {
  readonly feeds: Feeds
  readonly told: TelemetryEvent[]
  /** Resolves when the feed was fetched again or the fetch has failed. */
  readonly later: (ms: number) => Promise<void>
  readonly close: () => Promise<void>
}

/** Long enough that a simulated day has few polls. */
const pollMs = 30_000

type Opening = {
  /** Time since the first of January. */
  readonly now?: number
  /** The server's allowed silence. */
  readonly silenceMs?: number
  readonly disk?: { readonly readBytes?: number; readonly folderBytes?: number }
}

export const openPagedFeed = async (
  folder: string,
  settings: Partial<FeedSettings>,
  { now = 0, silenceMs = 2000, disk = {} }: Opening = {},
): Promise<OpenedFeed> => {
  const clock = createFakeClock(newYear + now)
  const told: TelemetryEvent[] = []
  const feeds = await openFeeds([{ name: 'ours', level: 'malicious', categories: [], ...settings }], {
    clock,
    emit: (event) => void told.push(event),
    pollMs,
    random: () => 0.5,
    fetching: { folder, download: createDownload({}, { silenceMs, connectMs: silenceMs }), disk },
  })
  onTestFinished(() => feeds.close())
  return { feeds, told, later: untilFetched(feeds, clock), close: feeds.close }
}

/** Advances the time until the feed was fetched again. File reads and fetches take real time, during which the fake clock stands still. */
export const untilFetched =
  (feeds: Feeds, clock: FakeClock) =>
  async (ms: number): Promise<void> => {
    const of = (): number | undefined => feeds.status()[0]?.fetch?.nextAt
    const before = of()
    await clock.advance(ms)
    while (of() === before || clock.timers() === 0) {
      await new Promise((done) => setTimeout(done, 5))
      if (of() === before && clock.timers() > 0) await clock.advance(1000)
    }
  }

export const entriesOf = (feeds: Feeds): number => {
  const [status] = feeds.status()
  return (status?.addresses ?? 0) + (status?.names ?? 0)
}
export const errorOf = (feeds: Feeds): string | undefined => feeds.status()[0]?.fetch?.error
