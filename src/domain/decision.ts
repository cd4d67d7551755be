// The gate's decision about a sighting: look it up, check local feeds only, or skip it.
import type { Indicator } from './indicator.js'
import type { NameSet } from './name-set.js'
import type { RangeSet } from './range-set.js'
import type { Reason } from './reason.js'
import type { Sighting } from './sighting.js'

export const decisions = ['lookup', 'feeds', 'skip'] as const

export type Decision =
  /** `ask` is the indicator to send: for a name its registrable domain, unless configured otherwise. */
  | { readonly decision: 'lookup'; readonly ask: Indicator }
  | { readonly decision: 'feeds'; readonly reason: Reason }
  /** `until`: epoch milliseconds when the decision expires, if it does. */
  | { readonly decision: 'skip'; readonly reason: Reason; readonly until?: number }

/** Listed addresses and names; `expiring` maps temporary entries to their end in epoch milliseconds. */
export type IndicatorList = {
  readonly ranges: RangeSet
  readonly names: NameSet
  readonly expiring?: readonly { readonly until: number; readonly ranges: RangeSet; readonly names: NameSet }[]
}

/** The configuration of the gate. */
export type GateOptions = {
  readonly ownRanges: RangeSet
  readonly internalSuffixes: NameSet
  /** Names that look internal and that the operator declared public. */
  readonly publicSuffixes: NameSet
  readonly allow: IndicatorList
  readonly deny: IndicatorList
  readonly askFreeText: boolean
  readonly domainAsk: 'registrable' | 'host'
  /** Treats documentation addresses as public. */
  readonly documentation?: boolean
  /** The time, for entries of the allow list that expire. */
  readonly now?: () => number
}

/** Pure; called for every sighting of every event. */
export type Decide = (sighting: Sighting) => Decision
