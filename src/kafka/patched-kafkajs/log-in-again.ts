// A login of kafkajs on a connection that is in use. If it fails, the connection is left between two steps of it and no request through it
// ever succeeds again, and what is only about this connection (it broke, the name has changed, the token has just ended) ends the process.

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
  /** Null where nobody has logged in on it. */
  readonly authenticatedAt: readonly [number, number] | null
  readonly sasl: { readonly oauthBearerProvider?: () => Promise<Token> }
  send(request: unknown): Promise<unknown>
  rejectRequests(error: Error): void
  disconnect(): Promise<unknown>
}
type Authenticator = { connection: Connection; authenticate(): Promise<void> }
// TypeScript requires this form of a class that is extended without being known.
type AuthenticatorClass = new (...given: any[]) => Authenticator // eslint-disable-line @typescript-eslint/no-explicit-any

/** Ours asks for the token before it says anything to the broker, and leaves a connection on which the login failed for a new one. */
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

/** The error of a login has only the words of what failed, and a connection that broke reads like a wrong password. */
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

/** The broker has answered, or everything was answered and we do not accept it. In the last case somebody is logged in already. */
const isRefusal = (failure: unknown): boolean => {
  if (failure === undefined) return true
  const { type } = failure as { readonly type?: string }
  return type !== undefined && type !== 'ILLEGAL_SASL_STATE'
}
