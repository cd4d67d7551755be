// The answer of a broker to a token: nothing where it is accepted, words where it is not.
import { describe, expect, it } from 'vitest'
import { failureOf } from '../../../../src/kafka/failure.js'
import { refusedToken } from '../../../../src/kafka/patched-kafkajs/refused-token.js'
import { original } from '../../../support/original-kafkajs.js'

type Provider = typeof refusedToken
const theirs = original('broker/saslAuthenticator/oauthBearer.js') as Provider

const answerOf = (words: string): Buffer => {
  const bytes = Buffer.alloc(4 + Buffer.byteLength(words))
  bytes.writeInt32BE(bytes.length - 4, 0)
  bytes.write(words, 4)
  return bytes
}
/** What was sent, and how the login ended. */
const logIn = async (provider: Provider, words: string, failure?: Error) => {
  let sent = ''
  const silent = { debug: () => undefined, error: () => undefined }
  const surroundings = {
    logger: silent,
    saslAuthenticate: async ({
      request,
      response,
    }: {
      request: unknown
      response?: { decode: (b: Buffer) => unknown }
    }) => {
      if (failure) throw failure
      sent = String(await (request as { encode: () => Promise<Buffer> }).encode())
      return (await response?.decode(answerOf(words))) as Buffer
    },
  }
  const sasl = { oauthBearerProvider: () => Promise.resolve({ value: 'abc', extensions: { logicalCluster: 'lkc-1' } }) }
  const ended = await provider(sasl)(surroundings)
    .authenticate()
    .then(
      () => 'in',
      (error: unknown) => failureOf(error),
    )
  return { sent, ended }
}

describe('a token', () => {
  it('is sent as kafkajs sends it, and accepted by an empty answer', async () => {
    const ours = await logIn(refusedToken, '')
    expect(ours).toEqual(await logIn(theirs, ''))
    expect(ours.ended).toBe('in')
    expect(ours.sent).toContain('auth=Bearer abc\u0001logicalCluster=lkc-1')
  })

  it('is refused in words, which the original takes for a success', async () => {
    const words = '{"status":"invalid_token"}'
    expect((await logIn(theirs, words)).ended).toBe('in')
    expect((await logIn(refusedToken, words)).ended).toEqual({
      kind: 'fatal',
      name: 'KafkaJSSASLAuthenticationError',
      message: `SASL OAUTHBEARER authentication failed: the broker refuses the token: ${words}`,
    })
  })

  it('fails as in the original where the exchange fails', async () => {
    const failure = new Error('Closed connection')
    expect((await logIn(refusedToken, '', failure)).ended).toEqual((await logIn(theirs, '', failure)).ended)
  })
})
