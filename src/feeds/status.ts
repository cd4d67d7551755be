// The status of each feed: its counts and problems, and the messages about them for the setting that names it.
import { entriesIn, type EntryCounts } from '../domain/entry-counts.js'
import type { FileProblem, SettingProblem } from '../domain/problem.js'
import { describeSkipped, skippedIn, type Skipped } from '../domain/skipped.js'
import { addressOf, type PlacedFeed } from './feed.js'
import type { FeedIndex, sizeOf } from './feed-index.js'
import type { SkippedExample } from './load-feed.js'
import { hostOf, type FetchedFeed, type FetchState } from './fetch-feed.js'

export type FeedStatus = EntryCounts & {
  readonly name: string
  readonly path: string
  /**
   * empty: in use, but the list has no entry. refused: no list is in use. kept: the newest file was refused, so the former list is still in
   * use. missing: the list was never fetched.
   */
  readonly state: 'loaded' | 'empty' | 'kept' | 'refused' | 'missing'
  /** Memory of the index. */
  readonly bytes: number
  /** Epoch milliseconds when the newest file in use was written. */
  readonly modified?: number
  /** Epoch milliseconds when its newest entry was seen or listed, if the list has dates. */
  readonly newestEntry?: number
  /** Counts of the entries skipped in the file in use, with the first examples. */
  readonly skipped: Skipped
  readonly examples: readonly SkippedExample[]
  readonly problem?: FileProblem
  /** For a fetched feed: its host, and the state of its fetches. */
  readonly fetch?: Readonly<FetchState> & { readonly from: string }
}

/** The loaded list of a feed. */
export type InUse = {
  readonly index: FeedIndex
  readonly modified: number
  readonly newestEntry?: number | undefined
  readonly size: ReturnType<typeof sizeOf>
  /** When the next listed entry becomes valid, in epoch milliseconds; Infinity if none is pending. */
  readonly nextValid: number
  readonly skipped: Skipped
  readonly examples: readonly SkippedExample[]
}

export type Slot = {
  readonly settings: PlacedFeed
  /** Fetches the feed, if it has an address. */
  fetched?: FetchedFeed | undefined
  inUse?: InUse | undefined
  problem?: FileProblem | undefined
  /** Signature of the file last loaded or refused, and of a change that is not stable yet. */
  tried?: string
  changing?: string
}

export const statusOf = ({ settings, inUse, problem, fetched }: Slot): FeedStatus => ({
  name: settings.name,
  path: settings.path,
  state: problem ? (inUse ? 'kept' : 'refused') : inUse ? (isEmpty(inUse) ? 'empty' : 'loaded') : 'missing',
  ...(inUse ? inUse.size : { addresses: 0, endpoints: 0, names: 0, urls: 0, bytes: 0 }),
  skipped: inUse?.skipped ?? {},
  examples: inUse?.examples ?? [],
  ...(inUse && { modified: inUse.modified }),
  ...(inUse?.newestEntry !== undefined && { newestEntry: inUse.newestEntry }),
  ...(problem && { problem }),
  ...(fetched && { fetch: { ...fetched.state, from: hostOf(addressOf(settings) ?? '') } }),
})

const isEmpty = ({ size }: InUse): boolean => entriesIn(size) === 0

/** Why a feed in use holds no entry, as a phrase that follows its name. */
export const whyEmpty = (skipped: Skipped, example?: FileProblem): string => {
  const all = skippedIn(skipped)
  if (all === 0) return 'holds no entry: it lists nothing at present'
  return `holds no entry that can be used: ${all === 1 ? 'the only one' : `all ${all}`} of it skipped, ${describeSkipped(skipped)}${example ? `; for example ${example.message}` : ''}`
}

/** Faults that do not stop a run but belong in a check: feeds without an entry, and broken patterns. */
export const feedFaults = (feeds: readonly FeedStatus[]): readonly SettingProblem[] =>
  feeds.flatMap(({ name, path, state, skipped, examples }, place) => {
    const [first] = examples
    const broken = examples.find(({ why }) => why === 'broken')
    const setting = `feeds.${place}`
    if (state === 'empty')
      return [{ setting, message: `names the feed ${name}, which ${whyEmpty(skipped, first)}`, where: path }]
    if (!broken) return []
    return [{ setting, message: `names the feed ${name}, in which ${broken.message}`, where: placeOf(broken) }]
  })

export const feedProblems = (feeds: readonly FeedStatus[]): readonly SettingProblem[] =>
  feeds.flatMap(({ name, problem, fetch }, place) =>
    // A list that cannot be fetched does not prevent startup, because the fetch is retried.
    problem && !fetch
      ? [
          {
            setting: `feeds.${place}`,
            message: `names the feed ${name}, which is refused: ${problem.message}`,
            where: placeOf(problem),
          },
        ]
      : [],
  )

/** The file, with the line if there is one. */
export const placeOf = ({ file, line }: FileProblem): string => (line === undefined ? file : `${file}:${line}`)
