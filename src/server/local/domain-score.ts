// A rating in the three spellings that a domain report has for it.
import type { Rating } from '../../domain/finding.js'
import type { JsonObject } from '../answer.js'

const scores: Readonly<Record<Rating, { readonly num: number; readonly percentage: number }>> = {
  safe: { num: 0, percentage: 20 },
  low: { num: 1, percentage: 40 },
  moderate: { num: 2, percentage: 60 },
  dangerous: { num: 3, percentage: 80 },
  critical: { num: 4, percentage: 99 },
}

/** Nothing for no rating: a score is never made up. */
export const domainScore = (rating: Rating | undefined): JsonObject | undefined =>
  rating && { score: rating, score_num: scores[rating].num, score_percentage: scores[rating].percentage }
