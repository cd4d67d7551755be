// One sighting on its way into an annotation: what was decided about it, its verdict, and how it was told before.
import type { Decision } from '../domain/decision.js'
import type { Sighting } from '../domain/sighting.js'
import type { Verdict } from '../domain/verdict.js'
import type { Side } from './direction.js'
import type { Weighed } from './weigh.js'

export type Row = {
  readonly sighting: Sighting
  readonly decision: Decision
  /** Where it is missing the answer is still pending. */
  readonly verdict?: Verdict | undefined
  /** How it was told before, in this event or another that holds the same row. */
  told?: Weighed | undefined
  /** On which side of the network its address is, once somebody asked. */
  side?: Side | undefined
  /** To be called when so many characters were added to what is told: whoever keeps the row counts them. */
  readonly grew?: ((characters: number) => void) | undefined
}
