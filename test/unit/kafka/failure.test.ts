import { createRequire } from 'node:module'
import { describe, expect, it } from 'vitest'
import { failureOf, type KafkaFailure } from '../../../src/kafka/failure.js'

type Made = new (cause: unknown, more?: object) => Error
const errors = createRequire(import.meta.url)('kafkajs/src/errors.js') as Readonly<Record<string, Made>>
const make = (name: string, cause: unknown = 'sentence', more: object = {}): Error => new errors[name]!(cause, more)
const answer = (type: string): Error => make('KafkaJSProtocolError', { message: 'sentence', type, code: 1 })

describe('a failed request', () => {
  it.each<[KafkaFailure['kind'], string, unknown]>([
    ['refused', 'a record that is too large', answer('MESSAGE_TOO_LARGE')],
    ['fatal', 'a missing permission', answer('TOPIC_AUTHORIZATION_FAILED')],
    ['fatal', 'a refused login', make('KafkaJSSASLAuthenticationError')],
    ['fatal', 'a version that the broker does not speak', answer('UNSUPPORTED_VERSION')],
    ['unavailable', 'a refused connection', make('KafkaJSConnectionError', 'sentence', { code: 'ECONNREFUSED' })],
    ['unavailable', 'a name that is not known yet', make('KafkaJSConnectionError', 'sentence', { code: 'ENOTFOUND' })],
    ['unavailable', 'no answer', make('KafkaJSRequestTimeoutError')],
    ['unavailable', 'no coordinator to be found', make('KafkaJSGroupCoordinatorNotFound')],
    ['unavailable', 'no broker left', new (errors.KafkaJSNoBrokerAvailableError as unknown as new () => Error)()],
    ['unavailable', 'a partition without leader', answer('LEADER_NOT_AVAILABLE')],
    [
      'unavailable',
      'many tries of the same',
      make('KafkaJSNumberOfRetriesExceeded', make('KafkaJSConnectionError', 'sentence'), {
        retryCount: 5,
        retryTime: 1,
      }),
    ],
    [
      'untrusted',
      'a certificate of nobody we trust',
      make('KafkaJSConnectionError', 'sentence', { code: 'SELF_SIGNED_CERT_IN_CHAIN' }),
    ],
    ['other', 'a topic that is gone', answer('UNKNOWN_TOPIC_OR_PARTITION')],
    ['other', 'a mistake of ours', new Error('sentence')],
  ])('is %s: %s', (kind, _, error) => {
    expect(failureOf(error).kind).toBe(kind)
  })
})
