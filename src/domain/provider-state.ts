// How calls to the provider are doing: for the pipeline's waits, the metrics and the status page.
import type { Reason } from './reason.js'
import type { CallLimit } from './source-description.js'

export const providerStates = ['open', 'paused', 'breaker_open', 'stopped', 'probing'] as const

/** Calls allowed per hour and per day; 0 is no limit. */
export type AllowedCalls = {
  readonly hour: number
  readonly day: number
  /** Nobody set them: they do not apply at a gateway. */
  readonly isDefault?: boolean
}

/** The state of the API key. */
export type ProviderState = {
  readonly waiting: number
  readonly inFlight: number
  /** Calls that may be in flight. */
  readonly allowed: number
  readonly state: (typeof providerStates)[number]
  /** Why calls are not sent. */
  readonly reason?: Reason
  /** Epoch milliseconds when the next call is tried. */
  readonly until?: number
  /** Epoch milliseconds when the budget allows the next call; Infinity where this run may send none any more. */
  readonly budgetSpentUntil?: number
  /** A gateway is asked, which keeps a budget of its own. */
  readonly isGateway?: boolean
  /** Of a source: its limits, and how much of each is used in its present period. */
  readonly limits?: readonly (CallLimit & { readonly used: number })[]
  readonly spent: { readonly hour: number; readonly day: number; readonly run: number }
  /** What a lookup takes from its start to its finding, as observed. */
  readonly latencyMs: number
}
