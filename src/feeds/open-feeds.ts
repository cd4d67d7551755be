// Loads the feeds, watches their files, swaps a changed feed as a whole, and matches indicators.
import { entriesIn } from '../domain/entry-counts.js'
import type { FileProblem } from '../domain/problem.js'
import { systemClock, type Clock } from '../base/clock.js'
import type { IndicatorList } from '../domain/decision.js'
import type { Known, Listing } from '../domain/finding.js'
import type { Indicator } from '../domain/indicator.js'
import { ignoreTelemetry, type Emit } from '../telemetry/event.js'
import { openDiskShare, type DiskLimits } from './disk-share.js'
import { addressOf, type FeedSettings } from './feed.js'
import { signatureOf } from './feed-file.js'
import { nextValidOf, releaseIndex, sizeOf, targetOf, type Shown } from './feed-index.js'
import { copyFiles } from './fetched-copy.js'
import { createFetchedFeed, hostOf, type FetchOutside } from './fetch-feed.js'
import { loadInThread, type Load } from './load-in-thread.js'
import { listBelow, matchIn } from './match.js'
import { whyEmpty, type InUse, type Slot, statusOf, type FeedStatus } from './status.js'

type FeedsOptions = {
  readonly emit?: Emit
  readonly clock?: Clock
  /** From 0 up to 1. */
  readonly random?: () => number
  readonly load?: Load
  /** How long startup waits for lists that must be fetched. */
  readonly startWaitMs?: number
  /** Poll interval of the files; a change is loaded after it was stable for one interval. 0: never. */
  readonly pollMs?: number
  /** Shared hosts and other indicators that feeds must not accuse. */
  readonly safeguard?: IndicatorList
  /** Called when a feed was swapped or one of its entries became valid. */
  readonly changed?: (() => void) | undefined
  /** The folder for fetched feeds and how to fetch them; without `download` the existing copies are used. */
  readonly fetching?:
    | {
        readonly folder: string
        readonly download?: FetchOutside['download'] | undefined
        readonly disk?: Partial<DiskLimits>
      }
    | undefined
}

export type Feeds = {
  /** An entry with a path or a port counts fully only if the event shows it. */
  readonly match: (indicator: Indicator, now?: number, shown?: Shown) => Known | undefined
  /** The listings of hosts below a domain, bounded, without safeguarded hosts. */
  readonly listedBelow: (domain: string, now?: number) => readonly Listing[]
  /** Whether some feed has no list in use, so that a missing listing proves little. */
  readonly isMissing: () => boolean
  /** Reloads every feed, changed or not; resolves when each is swapped or refused. */
  readonly reload: () => Promise<void>
  readonly status: () => readonly FeedStatus[]
  /** Stops watching; resolves when no load is running. */
  readonly close: () => Promise<void>
}

const defaultPollMs = 5000
/** Startup does not delay the stream any longer than this. */
const defaultStartWaitMs = 30_000
const elsewhereMs = 250
const dayMs = 86_400_000
/** A list without an entry from the last three months counts as abandoned. */
const staleMs = 90 * dayMs

export const openFeeds = async (settings: readonly FeedSettings[], options: FeedsOptions = {}): Promise<Feeds> => {
  const { emit = ignoreTelemetry, clock = systemClock, random = Math.random, load = loadInThread } = options
  const { pollMs = defaultPollMs, startWaitMs = defaultStartWaitMs, safeguard, fetching, changed } = options
  const closing = new AbortController()
  const isClosed = (): boolean => closing.signal.aborted
  let cancel = (): void => undefined
  /** Loads run one at a time to bound memory. */
  let queue: Promise<void> = Promise.resolve()
  const enqueue = <Result>(run: () => Promise<Result>): Promise<Result> => {
    const done = queue.then(run)
    queue = done.then(
      () => undefined,
      () => undefined,
    )
    return done
  }

  const refuse = (slot: Slot, problem: FileProblem): FileProblem => {
    slot.problem = problem
    emit({ event: 'feed_refused', feed: slot.settings.name, kept: slot.inUse !== undefined, ...problem })
    return problem
  }

  /** Loads a file and puts it into use; `install` runs in between, once the list has passed its checks. */
  const take = async (
    slot: Slot,
    path: string,
    install: () => Promise<void> = () => Promise.resolve(),
  ): Promise<FileProblem | undefined> => {
    const { name } = slot.settings
    const started = clock.now()
    const seed = Math.floor(random() * 0x1_0000_0000)
    const result = await load({ feed: { ...slot.settings, path }, now: started, seed })
    if (isClosed()) return undefined
    if (!result.ok) return refuse(slot, shownFrom(slot, path, result.problem))
    const { index, modified, newestEntry, skipped, examples } = result
    const size = sizeOf(index)
    const loss = lossOf(slot, { size, skipped })
    if (loss) return refuse(slot, shownFrom(slot, path, loss))
    await install()
    const shown = examples.map((example) => shownFrom(slot, path, example))
    const former = slot.inUse?.index
    slot.inUse = {
      index,
      modified,
      newestEntry,
      size,
      skipped,
      examples: shown,
      nextValid: nextValidOf(index, started),
    }
    if (former) releaseIndex(former)
    slot.problem = undefined
    emit({ event: 'feed_loaded', feed: name, ...size, skipped, ms: clock.now() - started })
    changed?.()
    if (entriesIn(size) === 0) emit({ event: 'feed_empty', feed: name, message: whyEmpty(skipped, shown[0]) })
    else if (newestEntry !== undefined && started - newestEntry > staleMs)
      emit({ event: 'feed_stale', feed: name, newest: newestEntry, days: Math.floor((started - newestEntry) / dayMs) })
    if (entriesIn(size) > 0 && shown.length > 0)
      emit({ event: 'feed_entries_skipped', feed: name, skipped, examples: shown })
    return undefined
  }

  const diskShare = openDiskShare(fetching?.folder ?? '', fetching?.disk)
  const createSlot = (feed: FeedSettings): Slot => {
    const { path = '' } = feed
    const url = addressOf(feed)
    if (url === undefined || !fetching) return { settings: { ...feed, path } }
    const { folder, download } = fetching
    if (!download) return { settings: { ...feed, path: copyFiles(folder, feed.name, url).list } }
    const fetched = createFetchedFeed(feed, {
      folder,
      diskShare,
      download,
      clock,
      random,
      emit,
      signal: closing.signal,
      isInUse: () => slot.inUse !== undefined,
      take: (file, install) =>
        enqueue(async () => {
          const problem = await take(slot, file, install)
          slot.tried = await signatureOf(slot.settings.path)
          return problem
        }),
    })
    const slot: Slot = { settings: { ...feed, path: fetched.path }, fetched }
    return slot
  }
  const slots: readonly Slot[] = settings.map(createSlot)

  const refresh = async (slot: Slot): Promise<void> => {
    const { name, path } = slot.settings
    slot.tried = await signatureOf(path)
    if (slots.find(({ settings }) => settings.name === name) !== slot)
      refuse(slot, { file: path, message: `another feed is named ${name}` })
    // A list that was never fetched has no file yet.
    else if (addressOf(slot.settings) === undefined || slot.tried !== 'ENOENT') await take(slot, path)
  }
  const refreshIfChanged = async (slot: Slot): Promise<void> => {
    const signature = await signatureOf(slot.settings.path)
    if (signature === slot.tried) return
    if (signature === slot.changing) await refresh(slot)
    else slot.changing = signature
  }
  const eachSlot = (run: (slot: Slot) => Promise<void>): Promise<void> =>
    enqueue(async () => {
      for (const slot of slots) if (!isClosed()) await run(slot)
    })

  /** Entries can be listed before they become valid. */
  const noticeValid = (): void => {
    const now = clock.now()
    let hasChanged = false
    for (const slot of slots)
      if (slot.inUse && slot.inUse.nextValid <= now) {
        slot.inUse = { ...slot.inUse, nextValid: nextValidOf(slot.inUse.index, now) }
        hasChanged = true
      }
    if (hasChanged) changed?.()
  }

  const fetches = new Map<Slot, Promise<void>>()
  /** Fetches run outside the queue, because a slow host must not block the other feeds. */
  const fetchAllDue = (): Promise<unknown> => {
    for (const slot of slots)
      if (slot.fetched && !fetches.has(slot) && !isClosed())
        fetches.set(
          slot,
          slot.fetched.fetchIfDue().finally(() => fetches.delete(slot)),
        )
    return Promise.all(fetches.values())
  }
  const watch = (): void => {
    if (isClosed() || pollMs === 0 || slots.length === 0) return
    cancel = clock.after(pollMs, () => {
      noticeValid()
      void fetchAllDue()
      void eachSlot(refreshIfChanged).then(watch)
    })
  }

  await eachSlot(refresh)
  const pause = (ms: number): Promise<void> => new Promise((resolve) => void clock.after(ms, resolve))
  /** Also waits for feeds that another process is fetching. */
  const fetchFirst = async (): Promise<void> => {
    await fetchAllDue()
    while (!isClosed() && slots.some(({ inUse, fetched }) => !inUse && fetched?.state.isElsewhere === true)) {
      await pause(elsewhereMs)
      await eachSlot(async (slot) => {
        if (!slot.inUse && slot.fetched) await refresh(slot)
      })
      await fetchAllDue()
    }
  }
  if (slots.some(({ fetched }) => fetched))
    await new Promise<void>((resolve) => {
      const stop = startWaitMs === Infinity ? () => undefined : clock.after(startWaitMs, resolve)
      void fetchFirst().then(() => {
        stop()
        resolve()
      })
    })
  watch()

  return {
    match: (indicator, now, shown) =>
      slots.length === 0 ? undefined : matchIn(slots, targetOf(indicator, shown), now ?? clock.now(), safeguard),
    listedBelow: (domain, now) => listBelow(slots, domain, (now ?? clock.now()) / 1000, safeguard),
    isMissing: () => slots.some(({ inUse }) => inUse === undefined),
    reload: () => eachSlot(refresh),
    status: () => slots.map(statusOf),
    close: async () => {
      closing.abort()
      cancel()
      await Promise.all(fetches.values())
      await queue
    },
  }
}

/** A problem in a freshly fetched list names its host, because the temporary file is gone afterwards. */
const shownFrom = <Told extends FileProblem>({ settings }: Slot, file: string, problem: Told): Told => {
  const address = addressOf(settings)
  return address === undefined || file === settings.path ? problem : { ...problem, file: hostOf(address) }
}

/** In a smaller list, half of the entries may well be gone for good. */
const smallList = 100

/**
 * Losing half a list is more often a broken download than good news. Expired entries do not count as lost. A local file may shrink, because
 * its owner edits it.
 */
const lossOf = (
  { settings, inUse }: Slot,
  { size, skipped }: Pick<InUse, 'size' | 'skipped'>,
): FileProblem | undefined => {
  const { path } = settings
  const before = inUse ? entriesIn(inUse.size) + (inUse.skipped.expired ?? 0) : 0
  const after = entriesIn(size) + (skipped.expired ?? 0)
  if (addressOf(settings) === undefined || before < smallList || after * 2 >= before) return undefined
  const message = `holds ${after} entries where ${before} are in use: more than half are gone; delete ${path} and restart to take it as it is`
  return { file: path, message }
}
