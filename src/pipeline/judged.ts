// A sighting with what was decided and found out about it: one row of what an event comes to.
import type { Decision } from '../domain/decision.js'
import type { Finding } from '../domain/finding.js'
import type { Sighting } from '../domain/sighting.js'
import type { Verdict } from '../domain/verdict.js'
import type { Row } from './row.js'

/** The same row stands in many events. */
export type Judged = Row & {
  readonly verdict: Verdict
  /** Set on a sighting that left without its answer: the answer, when it comes. The same promise for all that wait for one. */
  readonly late?: Promise<Finding> | undefined
}

/** All of one shape, which reading them is the faster for. */
export const judgedAs = (
  sighting: Sighting,
  decision: Decision,
  verdict: Verdict,
  more?: { readonly late?: Promise<Finding>; readonly grew?: Row['grew'] },
): Judged => ({ sighting, decision, verdict, late: more?.late, told: undefined, side: undefined, grew: more?.grew })
