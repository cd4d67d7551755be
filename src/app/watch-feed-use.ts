// Wraps a pipeline to count the matches of each feed.
import type { Judged } from '../domain/verdict.js'
import type { Pipeline } from '../pipeline/pipeline.js'

export const watchFeedUse =
  (pipeline: Pipeline, see: (judged: readonly Judged[]) => void): Pipeline =>
  (chunk, use, wait) =>
    pipeline(
      chunk,
      (one, place) => {
        see(one.judged)
        use(one, place)
      },
      wait,
    )
