// What may be done with a sighting before anybody is asked: ask about it, look only in local feeds, or leave it alone.
import type { Indicator } from './indicator.js'
import type { Reason } from './reason.js'

export const decisions = ['lookup', 'feeds', 'skip'] as const

export type Decision =
  /** `ask` is what may leave: for a name its registrable domain, unless told otherwise. */
  | { readonly decision: 'lookup'; readonly ask: Indicator }
  | { readonly decision: 'feeds'; readonly reason: Reason }
  | { readonly decision: 'skip'; readonly reason: Reason }
