// Replaces the token login of kafkajs to read the broker's answer.
// A broker refuses a token with a text, without an error code (RFC 7628, 3.2.2). kafkajs takes that for a success, and the next request
// never gets an answer.
import { createRequire } from 'node:module'
import { messageOf } from '../../base/message-of.js'

const load = createRequire(import.meta.url)
const { KafkaJSSASLAuthenticationError: Refused } = load('kafkajs/src/errors.js') as {
  readonly KafkaJSSASLAuthenticationError: new (message: string) => Error
}
const { request } = load('kafkajs/src/protocol/sasl/oauthBearer/index.js') as {
  readonly request: (sasl: Sasl, token: unknown) => Promise<unknown>
}

type Sasl = { readonly oauthBearerProvider: () => Promise<unknown> }
type Surroundings = {
  readonly saslAuthenticate: (exchange: {
    readonly request: unknown
    readonly response: {
      readonly decode: (bytes: Buffer) => Promise<Buffer>
      readonly parse: (bytes: Buffer) => Promise<Buffer>
    }
  }) => Promise<Buffer>
}

/** The length prefix of the text. */
const sizeBytes = 4
const asSent = (bytes: Buffer): Promise<Buffer> => Promise.resolve(bytes)

export const refusedToken =
  (sasl: Sasl) =>
  ({ saslAuthenticate }: Surroundings) => ({
    authenticate: async (): Promise<void> => {
      const token = await sasl.oauthBearerProvider()
      try {
        const response = { decode: asSent, parse: asSent }
        const answer = await saslAuthenticate({ request: await request(sasl, token), response })
        const words = answer.subarray(sizeBytes, sizeBytes + 200).toString()
        if (words !== '') throw new Error(`the broker refuses the token: ${words}`)
      } catch (error) {
        throw new Refused(`SASL OAUTHBEARER authentication failed: ${messageOf(error)}`)
      }
    },
  })
