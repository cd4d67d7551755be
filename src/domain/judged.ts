// A sighting with the decision about it and its verdict: made by enrich, never changed.
import type { Decision } from './decision.js'
import type { Finding } from './finding.js'
import type { Sighting } from './sighting.js'
import type { Verdict } from './verdict.js'

/** The same object stands in many events, as long as nothing changes. */
export type Judged = {
  readonly sighting: Sighting
  readonly decision: Decision
  readonly verdict: Verdict
  /** Set on a sighting that left without its answer: the answer, when it comes. The same promise for all that wait for one. */
  readonly late?: Promise<Finding> | undefined
}
