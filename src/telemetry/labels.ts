// The closed sets of label values, so that no input can add a series.

/** The result of a lookup in the memory: `coalesced` joined a call in flight, `miss` started one. */
export const memoryResults = ['fresh', 'stale', 'coalesced', 'cooling', 'miss'] as const
export type MemoryResult = (typeof memoryResults)[number]

/** What was written instead of a record that is too large for its topic. */
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
/** Why a record of the verdicts topic is not believed. */
export const verdictRefusals = ['malformed', 'too_large', 'unsigned', 'bad_signature', 'version', 'future'] as const
/** Why a record of the state topic is not believed. */
export const stateRefusals = ['malformed', 'too_large', 'unsigned', 'bad_signature', 'other_group'] as const
export type StateRefusal = (typeof stateRefusals)[number]
/** Why an answer that was paid for is not on the verdicts topic. */
export const notSharedReasons = ['too_large', 'too_many', 'refused'] as const
export type NotShared = (typeof notSharedReasons)[number]
export type VerdictRefusal = (typeof verdictRefusals)[number]
/** What bulk connections may hold. */
export const bulkLimits = ['connections', 'questions', 'unread'] as const
export type BulkLimit = (typeof bulkLimits)[number]
/** Statuses of a response of our own server. */
export const requestStatuses = ['200', '400', '401', '403', '404', '412', '420', '429', '500', '503', 'other'] as const
