// Patches the login of kafkajs on a connection in use.
// If such a login fails, kafkajs keeps the connection in the middle of the exchange, and no later request succeeds. Failures of this
// connection alone (it broke, the principal changed, the token just expired) also end the process.

import { createRequire } from 'node:module'
import { messageOf } from '../../base/message-of.js'

const load = createRequire(import.meta.url)
const { KafkaJSConnectionClosedError: ConnectionClosed } = load('kafkajs/src/errors.js') as {
  readonly KafkaJSConnectionClosedError: new (message: string, details: object) => Error
}

type Token = { readonly endsAt?: number }
type Connection = {
  readonly host: string
  readonly port: number
  /** Null before the first login. */
  readonly authenticatedAt: readonly [number, number] | null
  readonly sasl: { readonly oauthBearerProvider?: () => Promise<Token> }
  send(request: unknown): Promise<unknown>
  rejectRequests(error: Error): void
  disconnect(): Promise<unknown>
}
type Authenticator = { connection: Connection; authenticate(): Promise<void> }
// TypeScript requires this form of a class that is extended without being known.
type AuthenticatorClass = new (...given: any[]) => Authenticator // eslint-disable-line @typescript-eslint/no-explicit-any

/** Fetches the token before the exchange with the broker, and replaces a connection on which the login failed. */
export const logInAgain = (original: unknown): unknown =>
  class extends (original as AuthenticatorClass) {
    override async authenticate(): Promise<void> {
      const { connection } = this
      const { host, port, sasl } = connection
      const isAgain = connection.authenticatedAt !== null
      const token = await sasl.oauthBearerProvider?.()
      const failures = noteFailures(connection)
      this.connection = failures.connection
      try {
        await super.authenticate()
      } catch (error) {
        const closed = new ConnectionClosed(`Closed connection, to log in on a new one: ${messageOf(error)}`, {
          host,
          port,
        })
        connection.rejectRequests(closed)
        await connection.disconnect()
        const hasEnded = token?.endsAt !== undefined && token.endsAt <= Date.now()
        throw !isAgain && !hasEnded && isRefusal(failures.last()) ? error : closed
      }
    }
  }

/** The error of a failed login contains only text, in which a broken connection looks like a wrong password. */
const noteFailures = (connection: Connection): { readonly connection: Connection; readonly last: () => unknown } => {
  let last: unknown
  const send = async (request: unknown): Promise<unknown> => {
    try {
      return await connection.send(request)
    } catch (error) {
      last = error
      throw error
    }
  }
  return {
    connection: new Proxy(connection, {
      get: (target, name) => (name === 'send' ? send : (Reflect.get(target, name) as unknown)),
    }),
    last: () => last,
  }
}

/**
 * The broker has refused the login, or the client has rejected its answer. `ILLEGAL_SASL_STATE` is no refusal: the connection is already
 * logged in.
 */
const isRefusal = (failure: unknown): boolean => {
  if (failure === undefined) return true
  const { type } = failure as { readonly type?: string }
  return type !== undefined && type !== 'ILLEGAL_SASL_STATE'
}
