// A verdict: a finding judged for the role of a sighting.
import type { Flags } from './flag.js'
import type { Level, Listing } from './finding.js'
import type { Reason } from './reason.js'

export type Verdict = {
  readonly level: Level
  /** Present exactly when the level is `unknown`. */
  readonly reason?: Reason
  readonly score?: number
  readonly flags: Flags
  /** The explanation: `reported malicious, category malware, 1 scanning record`. */
  readonly because: string
  /** The reported categories. */
  readonly categories?: readonly string[]
  readonly source?: string
  /** Epoch milliseconds when the facts were obtained. */
  readonly at?: number
  readonly stale?: boolean
  /** The former verdict of a replayed event: nothing newer is known. */
  readonly former?: true
  /** The deciding feed and entry, if any. */
  readonly feed?: string
  readonly entry?: string
  /** The entry itself. */
  readonly listing?: Listing
  /** Epoch milliseconds after which the same facts may be judged differently. */
  readonly until?: number
}
