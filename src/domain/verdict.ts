// A verdict: a finding judged for the role of a sighting.
import type { AddressDetails } from './address-details.js'
import type { Level, Finding, Listing } from './finding.js'
import type { Decision } from './decision.js'
import type { Sighting } from './sighting.js'
import type { Flags } from './flag.js'
import type { Reason } from './reason.js'
import type { ThreatClass } from './threat-class.js'

export type Verdict = {
  readonly level: Level
  /** Present exactly when the level is `unknown`. */
  readonly reason?: Reason
  readonly score?: number
  /** The worst class among the sources at this level; present exactly if malicious or suspicious. */
  readonly threatClass?: ThreatClass
  /** The number of sources that call it malicious or suspicious; only with intel.sources. */
  readonly accusers?: number
  readonly flags: Flags
  /** The explanation: `reported malicious, category malware, 1 scanning record`. */
  readonly because: string
  /** The reported categories. */
  readonly categories?: readonly string[]
  /** Descriptive facts about an address. */
  readonly details?: AddressDetails
  readonly source?: string
  /** Epoch milliseconds when the facts were obtained. */
  readonly at?: number
  readonly stale?: boolean
  /** The former verdict of a replayed event: nothing newer is known. */
  readonly former?: true
  /** The deciding feed and entry, if any. */
  readonly feed?: string
  readonly entry?: string
  /** The deciding listing. */
  readonly listing?: Listing
  /** All listings, worst first and bounded, if there are several. */
  readonly listings?: readonly Listing[]
  /** Epoch milliseconds after which the same facts may be judged differently. */
  readonly until?: number
}

/** A sighting with its decision and verdict. Immutable, and shared by events until something changes. */
export type Judged = {
  readonly sighting: Sighting
  readonly decision: Decision
  readonly verdict: Verdict
  /** The pending finding, shared by all sightings that wait for it. */
  readonly late?: Promise<Finding> | undefined
}

/** The former verdict of an event, for a replay. */
export type FormerVerdict = {
  readonly level: Level
  /** A hash of the deciding indicator; 0 if the annotation does not name it. */
  readonly decidedBy: number
}

/** 28 bits, so that it fits into four bytes with the verdict. Never 0. */
export const markOf = (value: string): number => {
  let hash = 0x811c9dc5
  for (let at = 0; at < value.length; at++) hash = Math.imul(hash ^ value.charCodeAt(at), 0x01000193)
  return hash >>> 4 || 1
}
