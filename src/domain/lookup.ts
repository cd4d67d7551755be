// A lookup is one function from an indicator to a finding; everything else about lookups wraps it.
import type { Decision } from './decision.js'
import type { Finding } from './finding.js'
import type { Indicator } from './indicator.js'
import type { Action, Evidence, Role } from './sighting.js'

export type Ask = {
  readonly role: Role
  readonly action: Action
  readonly evidence: Evidence
  /** Set by whoever already decided; the gate decides where it is absent. */
  readonly decision?: Decision
  /** Live traffic goes before replayed history. */
  readonly urgency?: 'live' | 'replay'
}

/** Never rejects and never throws; answers at once, without a promise, when it is known. */
export type Lookup = (indicator: Indicator, ask: Ask) => Finding | Promise<Finding>
export type Layer = (inner: Lookup) => Lookup
