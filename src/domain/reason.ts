// The closed list of reasons for an `unknown` verdict, and the kind of each.

/**
 * policy: not looked up on purpose.  answer: looked up, without a verdict.
 * failure: no answer, or no lookup where there should have been one.
 */
const kinds = {
  not_found: 'answer',
  not_listed: 'answer',
  safeguarded: 'answer',
  reverse_lookup: 'answer',
  no_verdict: 'answer',
  outdated: 'answer',
  private_address: 'policy',
  special_address: 'policy',
  internal_name: 'policy',
  own_range: 'policy',
  allow_listed: 'policy',
  observer: 'policy',
  translated: 'policy',
  feeds_only: 'policy',
  feed_missing: 'failure',
  pending: 'failure',
  deadline: 'failure',
  queue_full: 'failure',
  budget_spent: 'failure',
  throttled: 'failure',
  busy: 'failure',
  bad_key: 'failure',
  no_credit: 'failure',
  plan: 'failure',
  unavailable: 'failure',
  timeout: 'failure',
  bad_answer: 'failure',
  bad_input: 'failure',
  cooling_down: 'failure',
  breaker_open: 'failure',
  truncated: 'failure',
  no_schema: 'failure',
  not_decoded: 'failure',
} as const

export type Reason = keyof typeof kinds
type ReasonKind = (typeof kinds)[Reason]

export const reasons = Object.keys(kinds) as readonly Reason[]
export const kindOf = (reason: Reason): ReasonKind => kinds[reason]

/** Temporary failures of the provider or of the queue; none concerns the indicator itself. */
const temporary: ReadonlySet<Reason> = new Set<Reason>([
  'queue_full',
  'busy',
  'throttled',
  'unavailable',
  'timeout',
  'breaker_open',
])
export const isTemporary = (reason: Reason): boolean => temporary.has(reason)

/** Temporary failures and limits that end, so an answer may come later. */
const passing: ReadonlySet<Reason> = new Set<Reason>([...temporary, 'cooling_down', 'budget_spent'])
export const passes = (reason: Reason): boolean => passing.has(reason)
