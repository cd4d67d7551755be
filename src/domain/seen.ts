// What is known of who has seen an indicator: how often, when, by which inside hosts.

export type SeenTotals = {
  /** Events that show it. */
  readonly count: number
  /** Epoch milliseconds. */
  readonly first: number
  readonly last: number
  readonly peers: readonly string[]
  /** Sightings by inside hosts that are not listed. */
  readonly otherSightings: number
  /** The first and the last of each day, in order. */
  readonly offsets: readonly number[]
}
