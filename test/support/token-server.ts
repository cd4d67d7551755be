// An HTTP token server that counts requests and issues tokens for Kafka's unsigned token handler, or answers of the test's choice.
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

type Asked = {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}
type Answer = (response: ServerResponse, asked: Asked) => void

export type TokenServer = {
  readonly url: string
  readonly asked: readonly Asked[]
  readonly behave: (answer: Answer) => void
  /** Closes the port until `open` is called. */
  readonly close: () => Promise<void>
  readonly open: () => Promise<void>
}

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** An unsigned JWT for Kafka's default handler; rounding never shortens its lifetime. */
export const unsignedToken = (sub: string, seconds: number): string => {
  const now = Date.now() / 1000
  return `${part({ alg: 'none' })}.${part({ sub, iat: Math.floor(now) - 1, exp: Math.ceil(now) + seconds })}.`
}

export const givesJson =
  (body: object, status = 200): Answer =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))

export const givesToken =
  (seconds: number, subject: () => string = () => 'weaver'): Answer =>
  (response, asked) =>
    givesJson({
      access_token: unsignedToken(subject(), seconds),
      token_type: 'Bearer',
      expires_in: seconds,
    })(response, asked)

export const startTokenServer = async (first: Answer): Promise<TokenServer> => {
  const asked: Asked[] = []
  let answer = first
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request
      const one = { method, path, headers, body: Buffer.concat(chunks).toString() }
      asked.push(one)
      answer(response, one)
    })
  })
  const open = async (port = 0): Promise<void> => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  }
  await open()
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/oauth2/token?tenant=soc`,
    asked,
    behave: (next) => {
      answer = next
    },
    open: () => open(port),
    close: async () => {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
