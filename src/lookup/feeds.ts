// Local intelligence: a listed indicator is answered at once, outside the memory, so a new entry counts immediately.
import { unknownOf, type Known } from '../domain/finding.js'
import type { Indicator } from '../domain/indicator.js'
import type { Layer } from '../domain/lookup.js'

/** What the feeds know about an indicator; a feed can only accuse, so there is no "clean" to come back with. */
export type Match = (indicator: Indicator) => Known | undefined

export const feeds =
  (match: Match): Layer =>
  (inner) =>
  (indicator, ask) => {
    const listed = match(indicator)
    if (listed) return listed
    const decision = ask.decision
    if (!decision) return inner(indicator, ask)
    // What is seen may be looked up here; what is asked further in is what the gate lets out.
    if (decision.decision === 'lookup') return inner(decision.ask, ask)
    return unknownOf(decision.decision === 'feeds' ? 'feeds_only' : decision.reason)
  }
