// A sighting with the decision about it and its verdict: made by enrich, never changed.
import type { Decision } from './decision.js'
import type { Finding } from './finding.js'
import type { Sighting } from './sighting.js'
import type { Verdict } from './verdict.js'

/** Immutable; shared by events as long as nothing changes. */
export type Judged = {
  readonly sighting: Sighting
  readonly decision: Decision
  readonly verdict: Verdict
  /** The answer that had not arrived yet, shared by all sightings that wait for it. */
  readonly late?: Promise<Finding> | undefined
}
