// The closed list of reasons why an indicator's verdict is `unknown`, and what each says about the work that was done.

/**
 * policy:  we chose not to ask.  answer: somebody was asked and had no verdict to give.
 * failure: somebody should have been asked, or was, and no answer came.
 */
const kinds = {
  not_found: 'answer',
  not_listed: 'answer',
  safeguarded: 'answer',
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
} as const

export type Reason = keyof typeof kinds
export type ReasonKind = (typeof kinds)[Reason]

export const reasons = Object.keys(kinds) as readonly Reason[]
export const kindOf = (reason: Reason): ReasonKind => kinds[reason]
