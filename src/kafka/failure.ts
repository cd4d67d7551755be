// Classifies failed Kafka requests: fatal, outage, or caused by the record itself.

/** Thrown when the process cannot continue; it exits with the message. */
export class FatalKafkaError extends Error {
  /** `needsOperator`: only a change of configuration or permissions helps, not a restart. */
  constructor(
    message: string,
    readonly needsOperator = false,
  ) {
    super(message)
  }
}

export type KafkaFailure = {
  /** `unavailable`: a required broker is unreachable or cannot serve yet. `untrusted`: TLS failed on either side. */
  readonly kind: 'refused' | 'fatal' | 'unavailable' | 'untrusted' | 'other'
  readonly name: string
  readonly message: string
}

/** The record itself is invalid: a retry does not help, and the broker stored no record of the batch. */
const refusals = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE', 'INVALID_TIMESTAMP', 'INVALID_RECORD'])
/** Only an operator can fix these. */
const fatal = new Set([
  'TOPIC_AUTHORIZATION_FAILED',
  'GROUP_AUTHORIZATION_FAILED',
  'CLUSTER_AUTHORIZATION_FAILED',
  'TRANSACTIONAL_ID_AUTHORIZATION_FAILED',
  'SASL_AUTHENTICATION_FAILED',
  'INVALID_TOPIC_EXCEPTION',
  'UNSUPPORTED_VERSION',
  'INVALID_TRANSACTION_TIMEOUT',
])

/** These end when the brokers are back. */
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
/** Codes of Node and OpenSSL for a certificate or handshake that one side refuses. */
const tlsCodes = /^(?:CERT_|DEPTH_ZERO_|EPROTO$|ERR_SSL_|ERR_TLS_|HOSTNAME_MISMATCH$|SELF_SIGNED_|UNABLE_TO_)/

export const failureOf = (error: unknown): KafkaFailure => {
  let found: { readonly type?: string; readonly name?: string; readonly message?: string; readonly code?: unknown } = {}
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    found = at
    if (found.type !== undefined) break
  }
  const name = found.type ?? found.name ?? 'unknown'
  const message = (found.message ?? String(error)).slice(0, 300)
  if (refusals.has(name)) return { kind: 'refused', name, message }
  if (fatal.has(name) || name === 'KafkaJSSASLAuthenticationError') return { kind: 'fatal', name, message }
  if (typeof found.code === 'string' && tlsCodes.test(found.code)) return { kind: 'untrusted', name, message }
  if (unavailable.has(name)) return { kind: 'unavailable', name, message }
  return { kind: 'other', name, message }
}
