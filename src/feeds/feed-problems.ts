// Feeds that were refused, as problems of the settings that name them.
import type { FeedProblem } from './feed.js'
import type { FeedStatus } from './open-feeds.js'

export type RefusedFeed = { readonly setting: string; readonly message: string; readonly where: string }

export const feedProblems = (feeds: readonly FeedStatus[]): readonly RefusedFeed[] =>
  feeds.flatMap(({ name, problem }, place) =>
    problem
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
export const placeOf = ({ file, line }: FeedProblem): string => (line === undefined ? file : `${file}:${line}`)
