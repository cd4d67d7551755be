// The lookup function: question in, finding out. Layers wrap it. In the pipeline the question is an indicator.
import type { Decision } from './decision.js'
import type { Finding, Unknown } from './finding.js'
import type { Indicator } from './indicator.js'
import type { Action, Evidence, Role } from './sighting.js'

export type Ask = {
  readonly role: Role
  readonly action: Action
  readonly evidence: Evidence
  /** Path and query of each URL in the event for this name. */
  readonly paths?: readonly string[] | undefined
  /** The port of the address in the event, as `portSeen` says it. */
  readonly port?: number | undefined
  /** The gate's decision, if it was already made. */
  readonly decision?: Decision
  /** Takes what is known, and asks nobody. */
  readonly isFree?: boolean | undefined
  /** Live traffic goes before replayed history. */
  readonly urgency?: 'live' | 'replay'
  /** The name of the key that asks, if several share the provider; they take turns. */
  readonly asker?: string | undefined
  /** Address of the machine that caused the event, and its network if that is outside: neither takes more than a share of the calls. */
  readonly peer?: string | undefined
  readonly network?: string | undefined
  /** What is remembered of it and is past its time, or is not all that is wanted: the source asks for the rest alone. */
  readonly former?: Former | undefined
  /** Epoch milliseconds, if the caller has just read the clock. */
  readonly now?: number | undefined
}

/** Of its answers those count that were obtained after `since`, in epoch milliseconds. */
export type Former = { readonly finding: Finding; readonly since: number }

/** Never rejects or throws; returns the finding synchronously if it is known. */
export type Lookup<Question = Indicator> = (question: Question, ask: Ask) => Finding | Promise<Finding>
export type Layer<Question = Indicator> = (inner: Lookup<Question>) => Lookup<Question>

/**
 * How a source sends one HTTP call: charged and counted just before it goes, its failure noted for everybody right after. A call that
 * may not go (budget spent, breaker open, …) is not sent and comes back as the `unknown` that says why; a pause is waited for.
 * `send` answers with anything that carries a status of its own, or with the `unknown` that the failure is.
 */
export type Call = <Answer extends { readonly status: string }>(
  send: () => Promise<Answer | Unknown>,
) => Promise<Answer | Unknown>

/** Who really asks, innermost: may need several calls for one finding, each sent through `call`. */
export type Source<Question = Indicator> = (question: Question, ask: Ask, call: Call) => Finding | Promise<Finding>
