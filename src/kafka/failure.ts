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
  /** `unavailable`: a broker that is needed cannot be reached or cannot serve yet; `untrusted`: TLS failed on either end. */
  readonly kind: 'refused' | 'hopeless' | 'unavailable' | 'untrusted' | 'passing'
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

/** An answer, or the lack of one, that the brokers' return changes. */
const unavailable = new Set([
  'KafkaJSConnectionError',
  'KafkaJSConnectionClosedError',
  'KafkaJSRequestTimeoutError',
  'KafkaJSBrokerNotFound',
  'KafkaJSNoBrokerAvailableError',
  'KafkaJSGroupCoordinatorNotFound',
  'KafkaJSMetadataNotLoaded',
  'KafkaJSTopicMetadataNotLoaded',
  'KafkaJSTimeout',
  'KafkaJSLockTimeout',
  'BROKER_NOT_AVAILABLE',
  'GROUP_COORDINATOR_NOT_AVAILABLE',
  'GROUP_LOAD_IN_PROGRESS',
  'KAFKA_STORAGE_ERROR',
  'LEADER_NOT_AVAILABLE',
  'NETWORK_EXCEPTION',
  'NOT_CONTROLLER',
  'NOT_COORDINATOR_FOR_GROUP',
  'NOT_ENOUGH_REPLICAS',
  'NOT_ENOUGH_REPLICAS_AFTER_APPEND',
  'NOT_LEADER_FOR_PARTITION',
  'REPLICA_NOT_AVAILABLE',
  'REQUEST_TIMED_OUT',
])
/** Codes of Node and OpenSSL for a certificate or a handshake that one of the ends refuses. */
const tlsCodes = /^(?:CERT_|DEPTH_ZERO_|EPROTO$|ERR_SSL_|ERR_TLS_|HOSTNAME_MISMATCH$|SELF_SIGNED_|UNABLE_TO_)/

export const failureOf = (error: unknown): Failure => {
  let found: { readonly type?: string; readonly name?: string; readonly message?: string; readonly code?: unknown } = {}
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    found = at
    if (found.type !== undefined) break
  }
  const name = found.type ?? found.name ?? 'unknown'
  const message = (found.message ?? String(error)).slice(0, 300)
  if (refusals.has(name)) return { kind: 'refused', name, message }
  if (hopeless.has(name) || name === 'KafkaJSSASLAuthenticationError') return { kind: 'hopeless', name, message }
  if (typeof found.code === 'string' && tlsCodes.test(found.code)) return { kind: 'untrusted', name, message }
  if (unavailable.has(name)) return { kind: 'unavailable', name, message }
  return { kind: 'passing', name, message }
}
