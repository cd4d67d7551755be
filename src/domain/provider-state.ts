// The state of calls to the provider, for the waits of the pipeline, the metrics and the status page.
import type { Reason } from './reason.js'
import type { CallLimit } from './source-description.js'

export const providerStates = ['open', 'paused', 'breaker_open', 'stopped', 'probing'] as const

/** Calls allowed per hour and per day; 0 is no limit. */
export type AllowedCalls = {
  readonly hour: number
  readonly day: number
  /** Not configured; defaults do not apply if the provider is a gateway. */
  readonly isDefault?: boolean
}

/** The state of the API key. */
export type ProviderState = {
  readonly waiting: number
  readonly inFlight: number
  /** The current concurrency limit. */
  readonly allowed: number
  readonly state: (typeof providerStates)[number]
  /** Why calls are not sent. */
  readonly reason?: Reason
  /** Epoch milliseconds of the next attempt. */
  readonly until?: number
  /** Epoch milliseconds when the budget allows the next call; Infinity if the budget of this run is spent. */
  readonly budgetSpentUntil?: number
  /** The provider is a gateway with its own budget. */
  readonly isGateway?: boolean
  /** Only for a source: its limits and their use in the current period. */
  readonly limits?: readonly (CallLimit & { readonly used: number })[]
  readonly spent: { readonly hour: number; readonly day: number; readonly run: number }
  /** The observed duration of a lookup, from its start to its finding. */
  readonly latencyMs: number
}
