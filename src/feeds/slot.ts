// A configured feed: what of it is in use, and what is wrong with it.
import type { FileProblem } from '../domain/problem.js'
import type { Skipped } from './collect.js'
import type { PlacedFeed } from './feed.js'
import type { FeedIndex, sizeOf } from './feed-index.js'
import type { FetchedFeed } from './fetch-feed.js'

export type InUse = {
  readonly index: FeedIndex
  readonly modified: number
  readonly digest: string
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
