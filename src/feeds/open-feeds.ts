// Keeps the feeds: loads them, watches their files, swaps a changed feed whole, and answers who is listed.
import type { FileProblem } from '../domain/file-problem.js'
import { systemClock, type Clock } from '../domain/clock.js'
import type { IndicatorList } from '../domain/decision.js'
import type { Known, Listing } from '../domain/finding.js'
import type { Indicator } from '../domain/indicator.js'
import { ignoreTelemetry, type Emit } from '../telemetry/event.js'
import type { FeedSettings } from './feed.js'
import { signatureOf } from './feed-file.js'
import { sizeOf, targetOf } from './feed-index.js'
import { loadInThread, type Load } from './load-in-thread.js'
import { listBelow, matchIn } from './match.js'
import type { InUse, Slot } from './slot.js'
import { statusOf, type FeedStatus } from './status.js'

export type FeedsOptions = {
  readonly emit?: Emit
  readonly clock?: Clock
  /** From 0 up to 1. */
  readonly random?: () => number
  readonly load?: Load
  /** How often the files are looked at; a change counts once it has stood still for as long. 0: never. */
  readonly pollMs?: number
  /** Hosts that are not accused by a URL that is listed somewhere on them. */
  readonly safeguard?: IndicatorList
}

export type Feeds = {
  /** `paths` are those of the URLs of a name that are seen: an entry with a path counts in full for them alone. */
  readonly match: (indicator: Indicator, now?: number, paths?: readonly string[]) => Known | undefined
  /** The listings of hosts below a domain, bounded; those of safeguarded hosts, which accuse nobody, left out. */
  readonly listedBelow: (domain: string, now?: number) => readonly Listing[]
  /** Reads every feed again, changed or not; done when each is swapped or refused. */
  readonly reload: () => Promise<void>
  readonly status: () => readonly FeedStatus[]
  /** Stops watching; done when nothing is being loaded any more. */
  readonly close: () => Promise<void>
}

const defaultPollMs = 5000

export const openFeeds = async (settings: readonly FeedSettings[], options: FeedsOptions = {}): Promise<Feeds> => {
  const { emit = ignoreTelemetry, clock = systemClock, random = Math.random, load = loadInThread } = options
  const { pollMs = defaultPollMs, safeguard } = options
  const slots: readonly Slot[] = settings.map((feed) => ({ settings: feed }))
  let isClosed = false
  let cancel = (): void => undefined
  /** One load at a time bounds the memory. */
  let queue: Promise<void> = Promise.resolve()

  const refuse = (slot: Slot, problem: FileProblem): void => {
    slot.problem = problem
    emit({ event: 'feed_refused', feed: slot.settings.name, kept: slot.inUse !== undefined, ...problem })
  }

  const refresh = async (slot: Slot): Promise<void> => {
    const { name, path } = slot.settings
    const started = clock.now()
    slot.tried = await signatureOf(path)
    if (slots.find(({ settings }) => settings.name === name) !== slot) {
      refuse(slot, { file: path, message: `another feed is named ${name}` })
      return
    }
    const seed = Math.floor(random() * 0x1_0000_0000)
    const result = await load({ feed: slot.settings, now: started, seed })
    if (isClosed) return
    if (!result.ok) {
      refuse(slot, result.problem)
      return
    }
    const size = sizeOf(result.index)
    const loss = lossOf(slot, size)
    if (loss) {
      refuse(slot, loss)
      return
    }
    const { index, modified, skipped, examples } = result
    slot.inUse = { index, modified, size, skipped, examples }
    slot.problem = undefined
    emit({ event: 'feed_loaded', feed: name, ...size, ms: clock.now() - started })
    if (skipped.unusable + skipped.tooBroad > 0)
      emit({ event: 'feed_entries_skipped', feed: name, ...skipped, examples })
  }

  const eachSlot = (run: (slot: Slot) => Promise<void>): Promise<void> => {
    queue = queue.then(async () => {
      for (const slot of slots) if (!isClosed) await run(slot)
    })
    return queue
  }
  const refreshIfChanged = async (slot: Slot): Promise<void> => {
    const signature = await signatureOf(slot.settings.path)
    if (signature === slot.tried) return
    if (signature === slot.changing) await refresh(slot)
    else slot.changing = signature
  }
  const watch = (): void => {
    if (isClosed || pollMs === 0 || slots.length === 0) return
    cancel = clock.after(pollMs, () => void eachSlot(refreshIfChanged).then(watch))
  }

  await eachSlot(refresh)
  watch()

  return {
    match: (indicator, now, paths) =>
      slots.length === 0 ? undefined : matchIn(slots, targetOf(indicator, paths), now ?? clock.now(), safeguard),
    listedBelow: (domain, now) => listBelow(slots, domain, (now ?? clock.now()) / 1000, safeguard),
    reload: () => eachSlot(refresh),
    status: () => slots.map(statusOf),
    close: () => {
      isClosed = true
      cancel()
      return queue
    },
  }
}

/** Half a feed gone is a broken download more often than good news. */
const lossOf = ({ settings, inUse }: Slot, size: InUse['size']): FileProblem | undefined => {
  const before = inUse ? inUse.size.addresses + inUse.size.names : 0
  const after = size.addresses + size.names
  if (after * 2 >= before) return undefined
  const message = `holds ${after} entries where ${before} are in use: more than half are gone; restart to take it as it is`
  return { file: settings.path, message }
}
