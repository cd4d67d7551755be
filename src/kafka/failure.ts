// What a failed request to Kafka means for us.

/** Thrown when the process cannot go on; the message is the sentence it exits with. */
export class Hopeless extends Error {
  /** `isRefused`: only a person can change it, by another configuration or permission. */
  constructor(
    sentence: string,
    readonly isRefused = false,
  ) {
    super(sentence)
  }
}

export type Failure = {
  readonly kind: 'refused' | 'hopeless' | 'passing'
  readonly name: string
  readonly message: string
}

/** An answer that says the record itself is wrong: sending it again cannot help, and nothing of the batch was stored. */
const refusals = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE', 'INVALID_TIMESTAMP', 'INVALID_RECORD'])
/** An answer that only a person can change. */
const hopeless = new Set([
  'TOPIC_AUTHORIZATION_FAILED',
  'GROUP_AUTHORIZATION_FAILED',
  'CLUSTER_AUTHORIZATION_FAILED',
  'TRANSACTIONAL_ID_AUTHORIZATION_FAILED',
  'SASL_AUTHENTICATION_FAILED',
  'INVALID_TOPIC_EXCEPTION',
  'UNSUPPORTED_VERSION',
  'INVALID_TRANSACTION_TIMEOUT',
])

export const failureOf = (error: unknown): Failure => {
  let found: { readonly type?: string; readonly name?: string; readonly message?: string; readonly cause?: unknown } =
    {}
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    found = at
    if (found.type !== undefined) break
  }
  const name = found.type ?? found.name ?? 'unknown'
  const message = (found.message ?? String(error)).slice(0, 300)
  if (refusals.has(name)) return { kind: 'refused', name, message }
  if (hopeless.has(name) || name === 'KafkaJSSASLAuthenticationError') return { kind: 'hopeless', name, message }
  return { kind: 'passing', name, message }
}
