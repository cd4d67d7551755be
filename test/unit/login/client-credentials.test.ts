// Client credentials against a real server: what is sent, what is believed of the answer, what is said of a failure.
import { createServer } from 'node:https'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { clientCredentials, type ClientCredentials } from '../../../src/login/client-credentials.js'
import { givesJson, givesToken, startTokenServer, unsignedToken, type TokenServer } from '../../support/token-server.js'

let server: TokenServer
beforeAll(async () => {
  server = await startTokenServer(givesToken(60))
})
afterAll(() => server.close())

const secret = 'planted:sécret/+'
const settings = (changes: Partial<ClientCredentials> = {}): ClientCredentials => ({
  tokenUrl: server.url,
  clientId: 'threat weave',
  clientSecret: secret,
  clientAuthentication: 'basic',
  scope: '',
  audience: '',
  ...changes,
})
const obtain = (changes: Partial<ClientCredentials> = {}, env: Record<string, string> = {}) =>
  clientCredentials(settings(changes), { env, now: Date.now })()
const answered = (answer: Parameters<TokenServer['behave']>[0], changes: Partial<ClientCredentials> = {}) => {
  server.behave(answer)
  return obtain(changes)
}
const token = (body: object) => givesJson({ access_token: 'abc', token_type: 'Bearer', expires_in: 60, ...body })

describe('client credentials', () => {
  it('are sent in the header, form-encoded, with what the token shall be for', async () => {
    const got = await answered(givesToken(90), { scope: 'kafka.read kafka.write', audience: 'https://kafka' })
    expect(got).toMatchObject({ lifeMs: 90_000 })
    const { method, path, headers, body } = server.asked.at(-1)!
    expect([method, path]).toEqual(['POST', '/oauth2/token?tenant=soc'])
    expect(Buffer.from(headers.authorization!.slice('Basic '.length), 'base64').toString()).toBe(
      'threat+weave:planted%3As%C3%A9cret%2F%2B',
    )
    expect(Object.fromEntries(new URLSearchParams(body))).toEqual({
      grant_type: 'client_credentials',
      scope: 'kafka.read kafka.write',
      audience: 'https://kafka',
    })
  })

  it('are sent in the body where the server wants that', async () => {
    await answered(givesToken(90), { clientAuthentication: 'body' })
    const { headers, body } = server.asked.at(-1)!
    expect(headers.authorization).toBeUndefined()
    expect(Object.fromEntries(new URLSearchParams(body))).toEqual({
      grant_type: 'client_credentials',
      client_id: 'threat weave',
      client_secret: secret,
    })
  })

  it.each([
    ['a number as text', token({ expires_in: '3599' }), 3_599_000],
    ['a type in another spelling', token({ token_type: 'bearer' }), 60_000],
    ['no type', token({ token_type: undefined }), 60_000],
  ])('take %s', async (_what, answer, lifeMs) => {
    expect(await answered(answer)).toEqual({ value: 'abc', lifeMs })
  })

  it('take the end that a token states where the answer has none', async () => {
    const got = await answered(givesJson({ access_token: unsignedToken('weaver', 120), token_type: 'Bearer' }))
    expect(got).toHaveProperty('lifeMs')
    const { lifeMs } = got as { lifeMs: number }
    expect(lifeMs).toBeGreaterThan(0)
    expect(lifeMs).toBeLessThanOrEqual(121_000)
  })

  it.each([
    ['no token', token({ access_token: undefined }), 'has no usable access_token'],
    [
      'a token that would add something at the broker',
      token({ access_token: 'a\u0001auth=x' }),
      'has no usable access_token',
    ],
    ['a token of 40 KB', token({ access_token: 'x'.repeat(40_000) }), 'has no usable access_token'],
    ['a token that is not text', token({ access_token: { a: 1 } }), 'has no usable access_token'],
    ['another type', token({ token_type: 'MAC' }), 'has a token_type other than Bearer'],
    ['no end', token({ expires_in: undefined }), 'has neither expires_in nor a token with an expiry'],
    ['an end that is no number', token({ expires_in: 'soon' }), 'has neither expires_in'],
    ['an end in the past', token({ expires_in: -1 }), 'has an expired token'],
    ['a list', givesJson([1]), 'is not a JSON object'],
    ['deep nesting', token({ deep: JSON.parse('['.repeat(50) + ']'.repeat(50)) as object }), 'is nested deeper than 8'],
  ])('do not take an answer with %s', async (_what, answer, problem) => {
    const got = await answered(answer)
    expect(got).toMatchObject({ code: 'bad_answer' })
    expect((got as { message: string }).message).toContain(`gives no token: its answer ${problem}`)
  })

  it('do not take a web page, and do not follow a redirect', async () => {
    expect(await answered((response) => response.end('<html>Login</html>'))).toMatchObject({
      code: 'bad_answer',
      message: expect.stringContaining('is a web page') as string,
    })
    const before = server.asked.length
    expect(
      await answered((response) => response.writeHead(307, { location: `${server.url}&again=1` }).end()),
    ).toMatchObject({ code: 'bad_answer', message: expect.stringContaining('HTTP 307: a redirect') as string })
    expect(server.asked.length).toBe(before + 1)
  })

  it('stop reading an answer of 50 MB', async () => {
    let written = 0
    const got = await answered((response) => {
      const piece = Buffer.alloc(65_536, 'x')
      const more = (): void => {
        while (written < 50 * 1024 * 1024 && !response.destroyed) {
          written += piece.length
          if (!response.write(piece)) {
            response.once('drain', more)
            return
          }
        }
        response.end()
      }
      more()
    })
    expect(got).toMatchObject({
      code: 'bad_answer',
      message: expect.stringContaining('larger than 65536 bytes') as string,
    })
    expect(written).toBeLessThan(50 * 1024 * 1024)
  })

  it.each([
    [400, 'refused'],
    [401, 'refused'],
    [403, 'refused'],
    [404, 'bad_answer'],
    [408, 'unavailable'],
    [429, 'unavailable'],
    [500, 'unavailable'],
    [503, 'unavailable'],
  ])('take HTTP %i for %s', async (status, code) => {
    expect(await answered(givesJson({ error: 'odd' }, status))).toMatchObject({ code })
  })

  it('say what a refusal says, and never the secret', async () => {
    const got = await answered((response, { headers }) =>
      givesJson({ error: 'invalid_client', error_description: `no ${secret}, no ${headers.authorization ?? ''}` }, 401)(
        response,
        { method: '', path: '', headers, body: '' },
      ),
    )
    const { host } = new URL(server.url)
    expect(got).toEqual({
      code: 'refused',
      message: `the token server ${host} refuses the client: HTTP 401, invalid_client, no [redacted], no Basic [redacted]`,
    })
  })

  it('wait as long as the server says', async () => {
    server.behave((response) => response.writeHead(429, { 'retry-after': '7' }).end())
    expect(await obtain()).toMatchObject({ code: 'unavailable', retryAfterMs: 7_000 })
  })

  it('give up a server that is silent, in the head and in the body', async () => {
    const limits = { connectTimeoutMs: 200, headersTimeoutMs: 200, bodyTimeoutMs: 200, maxAnswerBytes: 100 }
    const impatient = clientCredentials(settings(), { env: {}, now: Date.now }, limits)
    server.behave(() => undefined)
    expect(await impatient()).toMatchObject({ code: 'timeout' })
    server.behave((response) => response.writeHead(200).write('{'))
    expect(await impatient()).toMatchObject({ code: 'timeout' })
  })

  it('say that nobody is there', async () => {
    await server.close()
    expect(await obtain()).toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('ECONNREFUSED') as string,
    })
    await server.open()
  })

  it('trust a private authority from its file, and no other', async () => {
    const read = (name: string): string => readFileSync(join(import.meta.dirname, '../../fixtures/tls', name), 'utf8')
    const secure = createServer({ key: read('server.key'), cert: read('server.pem') }, (_, response) =>
      response.end(JSON.stringify({ access_token: 'abc', expires_in: 60 })),
    )
    secure.listen(0, '127.0.0.1')
    await once(secure, 'listening')
    const tokenUrl = `https://localhost:${(secure.address() as AddressInfo).port}/token`
    const trusting = (ca: object) => clientCredentials(settings({ tokenUrl }), { env: {}, now: Date.now, ...ca })()
    expect(await trusting({})).toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/SELF_SIGNED|UNABLE_TO/) as string,
    })
    expect(await trusting({ ca: read('ca.pem') })).toEqual({ value: 'abc', lifeMs: 60_000 })
    secure.close()
  })

  it('refuse a proxy that is none', async () => {
    expect(await obtain({ tokenUrl: 'https://login.example.com/token' }, { HTTPS_PROXY: 'nonsense' })).toMatchObject({
      code: 'refused',
      message: expect.stringContaining('HTTPS_PROXY is not a URL') as string,
    })
  })
})
