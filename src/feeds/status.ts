// How a feed is doing: what of it is in use, what is wrong with it, and what that means for the setting that names it.
import type { FileProblem, SettingProblem } from '../domain/problem.js'
import type { Skipped } from './collect.js'
import type { PlacedFeed } from './feed.js'
import type { FeedIndex, sizeOf } from './feed-index.js'
import { hostOf, type FetchedFeed, type FetchState } from './fetch-feed.js'

export type FeedStatus = {
  readonly name: string
  readonly path: string
  /**
   * refused: nothing is in use. kept: what was loaded before is in use, because the newest file was refused. missing: it was never
   * fetched.
   */
  readonly state: 'loaded' | 'kept' | 'refused' | 'missing'
  readonly addresses: number
  readonly names: number
  /** Memory of the index. */
  readonly bytes: number
  /** Epoch milliseconds when the newest file in use was written. */
  readonly modified?: number
  /** What of the file in use was left out, and the first of it. */
  readonly skipped: Skipped
  readonly examples: readonly FileProblem[]
  readonly problem?: FileProblem
  /** Of a feed that is fetched: from which host, and how that goes. */
  readonly fetch?: Readonly<FetchState> & { readonly from: string }
}

/** A configured feed: what of it is in use, and what is wrong with it. */
export type InUse = {
  readonly index: FeedIndex
  readonly modified: number
  readonly size: ReturnType<typeof sizeOf>
  /** When the next entry that is listed already begins to count, in epoch milliseconds; Infinity if none does. */
  readonly nextValid: number
  readonly skipped: Skipped
  readonly examples: readonly FileProblem[]
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

export const statusOf = ({ settings: { name, path, url }, inUse, problem, fetched }: Slot): FeedStatus => ({
  name,
  path,
  state: problem === undefined ? (inUse ? 'loaded' : 'missing') : inUse ? 'kept' : 'refused',
  ...(inUse ? inUse.size : { addresses: 0, names: 0, bytes: 0 }),
  skipped: inUse?.skipped ?? { unusable: 0, tooBroad: 0, other: 0 },
  examples: inUse?.examples ?? [],
  ...(inUse && { modified: inUse.modified }),
  ...(problem && { problem }),
  ...(url !== undefined && fetched && { fetch: { ...fetched.state, from: hostOf(url) } }),
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
