// Finds indicators that were delivered as clean or unknown and are malicious by what is known now.
import { keyOf, type Indicator } from '../domain/indicator.js'
import type { IndicatorInRole } from '../domain/judge.js'
import type { Verdict } from '../domain/verdict.js'
import type { Unalerted } from './sighting-counts.js'

export type NewlyMalicious = { readonly indicator: Indicator; readonly verdict: Verdict }

/** After so many the event loop may turn to something else. */
const sliceSize = 512

/** `verdictOf` says what is known now, if anything. */
export const newlyMalicious = async (
  unalerted: Iterable<Unalerted>,
  verdictOf: (sighting: IndicatorInRole) => Verdict | undefined,
  turn: () => Promise<unknown>,
): Promise<readonly NewlyMalicious[]> => {
  const found = new Map<string, NewlyMalicious>()
  let looked = 0
  for (const { indicator, roles } of unalerted) {
    if (++looked % sliceSize === 0) await turn()
    for (const role of roles) {
      const verdict = verdictOf({ ...indicator, role })
      if (verdict?.level !== 'malicious') continue
      found.set(keyOf(indicator), { indicator, verdict })
      break
    }
  }
  return [...found.values()]
}
