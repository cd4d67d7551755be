// What several feeds say about one indicator as one finding, named after the worst of them.
import type { Known, Listing } from '../domain/finding.js'

export type Found = { readonly listing: Listing; readonly modified: number }

const maxCategories = 16

const ranks = { malicious: 1000, suspicious: 0, flag: -1000 } as const
const weight = ({ listing }: Found): number => ranks[listing.level] + (listing.score ?? -1)

export const knownOf = (found: readonly Found[]): Known => {
  const worst = found.reduce((best, other) => (weight(other) > weight(best) ? other : best))
  const categories = [...new Set(found.flatMap(({ listing }) => listing.categories))].slice(0, maxCategories)
  return {
    status: 'known',
    facts: {
      flags: worst.listing.level === 'flag' ? { safeguarded: true } : {},
      categories,
      listings: found.map(({ listing }) => listing),
    },
    source: `feed:${worst.listing.feed}`,
    at: worst.modified,
  }
}
