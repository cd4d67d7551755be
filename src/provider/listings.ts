// Reads listings from an answer: `threatweave serve` and gateways include matching entries of their feeds.
import { isObject } from '../base/json-object.js'
import type { Listing } from '../domain/finding.js'
import { parseTimestamp } from '../domain/timestamp.js'
import { numberOf, textOf } from './read-value.js'

const maxListings = 128
const maxCategories = 8

/** Undefined if the answer has none. */
export const listingsOf = (value: unknown): readonly Listing[] | undefined => {
  if (!Array.isArray(value)) return undefined
  const listings = (value as unknown[]).slice(0, maxListings).flatMap((row) => listingOf(row) ?? [])
  return listings.length > 0 ? listings : undefined
}

const listingOf = (row: unknown): Listing | undefined => {
  if (!isObject(row)) return undefined
  const feed = textOf(row.feed, 64)
  const entry = textOf(row.entry, 300)
  const { level } = row
  if (feed === undefined || entry === undefined || (level !== 'malicious' && level !== 'suspicious')) return undefined
  const score = numberOf(row.score)
  const since = parseTimestamp(row.since)
  const copyAt = parseTimestamp(row.copy_of)
  const expires = parseTimestamp(row.expires)
  const categories = Array.isArray(row.categories) ? (row.categories as unknown[]) : []
  return {
    feed,
    entry,
    level,
    ...(score !== undefined && score >= 0 && score <= 100 && { score }),
    categories: categories.slice(0, maxCategories).flatMap((category) => textOf(category, 64) ?? []),
    ...(since !== undefined && { since }),
    ...(copyAt !== undefined && { copyAt }),
    ...(expires !== undefined && { expires }),
  }
}
