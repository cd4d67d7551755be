// A login that fails: what is left of the connection, and what its caller learns.
import { describe, expect, it } from 'vitest'
import { messageOf } from '../../../../src/base/message-of.js'
import { failureOf } from '../../../../src/kafka/failure.js'
import { logInAgain } from '../../../../src/kafka/patched-kafkajs/log-in-again.js'

type Given = {
  readonly failure?: Error
  readonly isOpen?: boolean
  readonly token?: () => Promise<{ readonly value: string; readonly endsAt?: number }>
}
const refused = Object.assign(new Error('Cannot change principals'), { type: 'SASL_AUTHENTICATION_FAILED' })
const broken = Object.assign(new Error('Closed connection'), { name: 'KafkaJSConnectionClosedError' })

/** Logs in; the kind of its failure, and what happened in which order. */
const logIn = async ({ failure, isOpen = false, token }: Given): Promise<readonly string[]> => {
  const done: string[] = []
  const connection = {
    host: 'kafka',
    port: 9093,
    authenticatedAt: isOpen ? [1, 2] : null,
    sasl: token
      ? {
          oauthBearerProvider: () => {
            done.push('token')
            return token()
          },
        }
      : {},
    send: () => Promise.reject(failure ?? new Error('nothing fails')),
    rejectRequests: () => {
      done.push('reject')
    },
    disconnect: () => {
      done.push('disconnect')
      return Promise.resolve(true)
    },
  }
  class Original {
    connection = connection
    async authenticate(): Promise<void> {
      done.push('handshake')
      if (!failure) return
      // As kafkajs: whatever failed, only its words are left.
      await this.connection.send().catch((error: unknown) => {
        throw Object.assign(new Error(messageOf(error)), { name: 'KafkaJSSASLAuthenticationError' })
      })
    }
  }
  const Ours = logInAgain(Original) as typeof Original
  return new Ours().authenticate().then(
    () => [...done, 'in'],
    (error: unknown) => [...done, failureOf(error).kind],
  )
}
const later = (): Promise<{ value: string; endsAt: number }> =>
  Promise.resolve({ value: 't', endsAt: Date.now() + 3_600_000 })

describe('a login', () => {
  it('has its token before it begins', async () => {
    expect(await logIn({ token: later })).toEqual(['token', 'handshake', 'in'])
    expect(await logIn({})).toEqual(['handshake', 'in'])
  })

  it('does not touch the connection where there is no token', async () => {
    const away = Object.assign(new Error('away'), { name: 'KafkaJSConnectionError' })
    expect(await logIn({ isOpen: true, token: () => Promise.reject(away) })).toEqual(['token', 'unavailable'])
  })

  it('is final where a new connection is refused, and the connection is closed', async () => {
    expect(await logIn({ failure: refused, token: later })).toEqual([
      'token',
      'handshake',
      'reject',
      'disconnect',
      'fatal',
    ])
    expect(await logIn({ failure: refused })).toEqual(['handshake', 'reject', 'disconnect', 'fatal'])
  })

  it.each([
    ['because the connection broke', { failure: broken }],
    ['on a connection that was in use', { failure: refused, isOpen: true }],
    [
      'with a token that has ended meanwhile',
      { failure: refused, token: () => Promise.resolve({ value: 't', endsAt: 1 }) },
    ],
    [
      'on a connection that is being closed',
      { failure: Object.assign(new Error('not valid'), { type: 'ILLEGAL_SASL_STATE' }) },
    ],
  ])('is tried again on a new connection when it fails %s', async (_where, given: Given) => {
    expect((await logIn(given)).slice(-2)).toEqual(['disconnect', 'unavailable'])
  })
})
