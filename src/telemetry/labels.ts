// Closed sets of label values, so that input cannot create new time series.

/** The result of a lookup in the memory: `coalesced` joined a call in flight, `miss` started one. */
export const memoryResults = ['fresh', 'stale', 'coalesced', 'cooling', 'miss'] as const
export type MemoryResult = (typeof memoryResults)[number]

/** The replacements for a record that is too large for its topic. */
export const reductions = ['compact', 'accused', 'header', 'dead_letter', 'pointer'] as const
export const deadLetterReasons = [
  'too_large',
  'message_too_large',
  'record_list_too_large',
  'invalid_record',
  'corrupt_message',
  'invalid_timestamp',
  'other',
] as const
export const alertLevels = ['informational', 'low', 'medium', 'high', 'critical', 'other'] as const

/** Outcomes of a call to the provider. */
export const callCodes = [
  'ok',
  'not_found',
  'throttled',
  'busy',
  'bad_key',
  'no_credit',
  'plan',
  'unavailable',
  'timeout',
  'bad_answer',
  'bad_input',
  'other',
] as const
/** Reasons for rejecting a record of the verdicts topic. */
export const verdictRefusals = ['malformed', 'too_large', 'unsigned', 'bad_signature', 'version', 'future'] as const
/** Reasons for rejecting a record of the state topic. */
export const stateRefusals = ['malformed', 'too_large', 'unsigned', 'bad_signature', 'other_group'] as const
export type StateRefusal = (typeof stateRefusals)[number]
/** Reasons for not sharing an answer on the verdicts topic. */
export const notSharedReasons = ['too_large', 'too_many', 'refused'] as const
export type NotShared = (typeof notSharedReasons)[number]
export type VerdictRefusal = (typeof verdictRefusals)[number]
/** Limits of bulk connections. */
export const bulkLimits = ['connections', 'questions', 'unread'] as const
export type BulkLimit = (typeof bulkLimits)[number]
/** Statuses in responses of our server. */
export const requestStatuses = ['200', '400', '401', '403', '404', '412', '420', '429', '500', '503', 'other'] as const
