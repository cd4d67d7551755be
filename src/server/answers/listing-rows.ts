// Adds matching feed entries to answers, so that listings count at the client regardless of scores and judgement table.
import type { Listing } from '../../domain/finding.js'
import type { JsonObject } from '../answer.js'

/** Undefined without listings, so that the answer looks like one of the provider. */
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
