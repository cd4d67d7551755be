// A verdict is facts judged for the role an indicator plays in one event.
import type { Flags } from './flag.js'
import type { Level } from './finding.js'
import type { Reason } from './reason.js'

export type Verdict = {
  readonly level: Level
  /** Present exactly when the level is `unknown`. */
  readonly reason?: Reason
  readonly score?: number
  readonly flags: Flags
  /** Why, in words: `reported malicious, category malware, 1 scanning record`. */
  readonly because: string
  /** What it is reported for. */
  readonly categories?: readonly string[]
  readonly source?: string
  /** Epoch milliseconds when the facts were obtained. */
  readonly at?: number
  readonly stale?: boolean
  /** Of an event that is judged again: what was said before, where nothing newer is known. */
  readonly former?: true
  /** Which feed entry decided, when a feed did. */
  readonly feed?: string
  readonly entry?: string
  /** Epoch milliseconds from which the same facts may be judged differently, where such a moment is known. */
  readonly until?: number
}
