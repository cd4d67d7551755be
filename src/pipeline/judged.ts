// A sighting with what was decided about it and its verdict: what enrich hands to annotate, and nobody changes.
import type { Decision } from '../domain/decision.js'
import type { Finding } from '../domain/finding.js'
import type { Sighting } from '../domain/sighting.js'
import type { Verdict } from '../domain/verdict.js'

/** The same object stands in many events, as long as nothing changes. */
export type Judged = {
  readonly sighting: Sighting
  readonly decision: Decision
  readonly verdict: Verdict
  /** Set on a sighting that left without its answer: the answer, when it comes. The same promise for all that wait for one. */
  readonly late?: Promise<Finding> | undefined
}
