// A server of lists that counts requests and answers as the test configures.
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export type ListServer = {
  readonly url: string
  readonly asked: readonly IncomingMessage[]
  /** Total size of the bodies sent. */
  readonly sent: () => number
  answer: (request: IncomingMessage, response: ServerResponse) => void
}

/** Answers with a list and its ETag, or with 304 if the client has it. */
export const listOf =
  (body: string | Buffer, etag = '"1"'): ListServer['answer'] =>
  (request, response) => {
    if (request.headers['if-none-match'] === etag) response.writeHead(304, { etag }).end()
    else response.writeHead(200, { etag, 'last-modified': 'Sun, 15 Nov 2026 08:00:00 GMT' }).end(body)
  }

export const startListServer = async (
  answer: ListServer['answer'],
  tls?: { readonly key: string; readonly cert: string },
): Promise<ListServer> => {
  const asked: IncomingMessage[] = []
  let sent = 0
  const serve: RequestListener = (request, response) => {
    asked.push(request)
    const end = response.end.bind(response)
    response.end = ((body?: unknown) => {
      if (typeof body === 'string' || Buffer.isBuffer(body)) sent += Buffer.byteLength(body)
      return body === undefined ? end() : end(body)
    }) as typeof response.end
    server.answer(request, response)
  }
  const http = tls ? createSecureServer(tls, serve) : createServer(serve)
  await new Promise<void>((done) => http.listen(0, '127.0.0.1', done))
  onTestFinished(
    () =>
      new Promise<void>((done) => {
        http.close(() => done())
        http.closeAllConnections()
      }),
  )
  const { port } = http.address() as AddressInfo
  const server: ListServer = {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    asked,
    sent: () => sent,
    answer,
  }
  return server
}
