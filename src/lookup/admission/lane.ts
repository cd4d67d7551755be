// The waiting lookups of one asker: by rank, and first come, first served within a rank.

type Ranked = { readonly rank: number; readonly ticket: number }

export type Lane<Place extends Ranked> = {
  readonly add: (place: Place) => void
  readonly remove: (place: Place) => void
  readonly best: () => Place | undefined
  readonly least: () => Place | undefined
  /** The largest number that may go before it. */
  readonly ahead: (place: Place) => number
  /** How many have this rank or a higher one. */
  readonly from: (rank: number) => number
  readonly size: () => number
}

export const createLane = <Place extends Ranked>(ranks: number): Lane<Place> => {
  // A set keeps insertion order. Most lanes use few ranks.
  const byRank = new Array<Set<Place> | undefined>(ranks)
  let size = 0
  const firstOf = (peers: Set<Place> | undefined): Place | undefined => peers?.values().next().value
  const from = (rank: number): number => {
    let count = 0
    for (let each = rank; each < ranks; each++) count += byRank[each]?.size ?? 0
    return count
  }
  return {
    add: (place) => {
      ;(byRank[place.rank] ??= new Set()).add(place)
      size++
    },
    remove: (place) => {
      if (byRank[place.rank]?.delete(place) === true) size--
    },
    best: () => firstOf(byRank.findLast((peers) => peers !== undefined && peers.size > 0)),
    least: () => firstOf(byRank.find((peers) => peers !== undefined && peers.size > 0)),
    ahead: (place) => {
      const peers = byRank[place.rank]
      const before = Math.min((peers?.size ?? 1) - 1, place.ticket - (firstOf(peers)?.ticket ?? place.ticket))
      return before + from(place.rank + 1)
    },
    from,
    size: () => size,
  }
}
