// Formats a listing for annotations and alerts: plain members of bounded size.
import type { AnnotatedListing } from './annotation.js'
import type { Listing } from './finding.js'

type Bounds = {
  readonly feed: number
  readonly entry: number
  readonly categories: number
  readonly category: number
}

export const describeListing = (
  { feed, entry, level, score, categories, since, expires }: Listing,
  bounds: Bounds,
): AnnotatedListing => ({
  feed: cut(feed, bounds.feed),
  entry: cut(entry, bounds.entry),
  level,
  ...(score !== undefined && Number.isFinite(score) && { score }),
  ...(categories.length > 0 && {
    categories: categories.slice(0, bounds.categories).map((name) => cut(name, bounds.category)),
  }),
  ...(timeOf(since) !== undefined && { since: timeOf(since) as string }),
  ...(timeOf(expires) !== undefined && { expires: timeOf(expires) as string }),
})

const cut = (text: string, length: number): string => (text.length > length ? `${text.slice(0, length - 1)}…` : text)

const timeOf = (at: number | undefined): string | undefined =>
  at !== undefined && Math.abs(at) <= 8.64e15 ? new Date(at).toISOString() : undefined
