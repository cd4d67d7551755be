// The entries of local feeds that accuse, named in answers next to the scores, so that no role and no table makes them harmless.
import type { Listing } from '../../domain/finding.js'
import type { JsonObject } from '../answer.js'

/** Absent where there are none, as in the provider's own answers. */
export const listingRows = (listings: readonly Listing[]): readonly JsonObject[] | undefined =>
  listings.length === 0
    ? undefined
    : listings.map(({ feed, entry, level, score, categories, since, copyAt, expires }) => ({
        feed,
        entry,
        level,
        score,
        categories,
        since: timeText(since),
        copy_of: timeText(copyAt),
        expires: timeText(expires),
      }))

const timeText = (at: number | undefined): string | undefined =>
  at === undefined ? undefined : new Date(at).toISOString()
