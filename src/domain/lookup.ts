// The lookup function: question in, finding out. Layers wrap it; in the pipeline the question is an indicator.
import type { Decision } from './decision.js'
import type { Finding, Unknown } from './finding.js'
import type { Indicator } from './indicator.js'
import type { Action, Evidence, Role } from './sighting.js'

export type Ask = {
  readonly role: Role
  readonly action: Action
  readonly evidence: Evidence
  /** Path and query of each URL with this host in the event. */
  readonly paths?: readonly string[] | undefined
  /** The port of the address in the event, from `portSeen`. */
  readonly port?: number | undefined
  /** The gate's decision, if it was already made. */
  readonly decision?: Decision
  /** Uses only local and remembered findings, without a call. */
  readonly isFree?: boolean | undefined
  /** Live traffic goes before replayed history. */
  readonly urgency?: 'live' | 'replay'
  /** The name of the client key, if several share the provider; they take turns. */
  readonly asker?: string | undefined
  /** The machine that caused the event and its network, if outside; each is limited to a share of the calls. */
  readonly peer?: string | undefined
  readonly network?: string | undefined
  /** A stale or incomplete finding from the memory; the source fetches only the missing parts. */
  readonly former?: Former | undefined
  /** Epoch milliseconds, if the caller has just read the clock. */
  readonly now?: number | undefined
}

/** Only answers after `since` (epoch milliseconds) still count. */
export type Former = { readonly finding: Finding; readonly since: number }

/** Never rejects or throws; returns the finding synchronously if it is known. */
export type Lookup<Question = Indicator> = (question: Question, ask: Ask) => Finding | Promise<Finding>
export type Layer<Question = Indicator> = (inner: Lookup<Question>) => Lookup<Question>

/**
 * Sends one HTTP call of a source through admission: the budget is charged before it is sent, and a failure feeds the circuit
 * breaker. Waits during a pause. Without a budget or with an open breaker nothing is sent, and the result is an `unknown` with the
 * reason. `send` returns an answer with a status, or an `unknown` for a failure.
 */
export type Call = <Answer extends { readonly status: string }>(
  send: () => Promise<Answer | Unknown>,
) => Promise<Answer | Unknown>

/** The innermost layer, which makes the calls; a finding may need several, each sent through `call`. */
export type Source<Question = Indicator> = (question: Question, ask: Ask, call: Call) => Finding | Promise<Finding>
