// How a feed is doing: what of it is in use, what is wrong with it, and what that means for the setting that names it.
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
   * empty: it is in use and accuses nobody, because it holds no entry. refused: nothing is in use. kept: what was loaded before is in
   * use, because the newest file was refused. missing: it was never fetched.
   */
  readonly state: 'loaded' | 'empty' | 'kept' | 'refused' | 'missing'
  /** Memory of the index. */
  readonly bytes: number
  /** Epoch milliseconds when the newest file in use was written. */
  readonly modified?: number
  /** Epoch milliseconds when its newest entry was seen or listed, where the list says so. */
  readonly newestEntry?: number
  /** What of the file in use was left out, and the first of it. */
  readonly skipped: Skipped
  readonly examples: readonly SkippedExample[]
  readonly problem?: FileProblem
  /** Of a feed that is fetched: from which host, and how that goes. */
  readonly fetch?: Readonly<FetchState> & { readonly from: string }
}

/** A configured feed: what of it is in use, and what is wrong with it. */
export type InUse = {
  readonly index: FeedIndex
  readonly modified: number
  readonly newestEntry?: number | undefined
  readonly size: ReturnType<typeof sizeOf>
  /** When the next entry that is listed already begins to count, in epoch milliseconds; Infinity if none does. */
  readonly nextValid: number
  readonly skipped: Skipped
  readonly examples: readonly SkippedExample[]
}

export type Slot = {
  readonly settings: PlacedFeed
  /** Where it is fetched. */
  fetched?: FetchedFeed | undefined
  inUse?: InUse | undefined
  problem?: FileProblem | undefined
  /** Signature of what was last loaded or refused, and of a change that has yet to stand still. */
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

/** Why a feed that is in use holds no entry, in words that follow its name. */
export const whyEmpty = (skipped: Skipped, example?: FileProblem): string => {
  const all = skippedIn(skipped)
  if (all === 0) return 'holds no entry: it lists nothing at present'
  return `holds no entry that can be used: ${all === 1 ? 'the only one' : `all ${all}`} of it skipped, ${describeSkipped(skipped)}${example ? `; for example ${example.message}` : ''}`
}

/** What a run goes on with, but who checks wants to know: feeds without an entry, and broken patterns. */
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
    // A list that cannot be fetched keeps nothing from starting: it is tried again.
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

/** The file, and the line where one is to blame. */
export const placeOf = ({ file, line }: FileProblem): string => (line === undefined ? file : `${file}:${line}`)
