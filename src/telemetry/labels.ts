// The closed sets that counters are told apart by: whatever happens, there are no more series than these.

/** How an ask of the memory went; `coalesced` joined a call under way, `miss` began one. */
export const recallKinds = ['fresh', 'stale', 'coalesced', 'cooling', 'miss'] as const
export type RecallKind = (typeof recallKinds)[number]

/** What became of a record that its topic could not take whole. */
export const rungs = ['compact', 'header', 'dead_letter', 'pointer'] as const
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

/** What can come of a call. */
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
/** What a caller can be given. */
export const answerStatuses = ['200', '400', '401', '403', '404', '412', '420', '429', '500', '503', 'other'] as const
