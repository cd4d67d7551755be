// Refuses wrong methods and malformed HTTP requests with the same JSON shape as other errors.
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Socket } from 'node:net'
import { http } from '../base/node-http.js'

const statuses: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
}

const bodyOf = (status: number): string =>
  JSON.stringify({ status, message: (http.STATUS_CODES[status] ?? 'bad request').toLowerCase() })

const headersOf = (body: string): Readonly<Record<string, string>> => ({
  'content-type': 'application/json; charset=utf-8',
  'content-length': String(Buffer.byteLength(body)),
  connection: 'close',
})

/** For `clientErrorHandler`: a malformed request, headers that are too long, a request that takes too long. */
export const refuseUnparsed = (error: NodeJS.ErrnoException, socket: Socket): void => {
  // In the midst of an answer there is no place for another one.
  const { _httpMessage: answering } = socket as { _httpMessage?: { readonly headersSent: boolean } | null }
  if (error.code === 'ECONNRESET' || !socket.writable || answering?.headersSent === true) {
    socket.destroy()
    return
  }
  const status = statuses[error.code ?? ''] ?? 400
  const body = bodyOf(status)
  const lines = Object.entries(headersOf(body)).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status} ${http.STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${body}`, () =>
    socket.destroy(),
  )
}

/** What Node would answer by itself and without a body: an expectation that nobody can meet. */
export const refuseExpectations = (server: Pick<Server, 'on'>): void => {
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const body = bodyOf(417)
    response.writeHead(417, headersOf(body)).end(body)
  })
}

/** Answers wrong methods on known paths with 405 and the allowed methods; `paths` are those of all routes with the methods of each. */
export const refuseOtherMethods = (
  app: FastifyInstance,
  paths: ReadonlyMap<string, readonly string[]>,
  refuse: (reply: FastifyReply) => FastifyReply,
): void => {
  // CONNECT never comes to a route.
  const known = http.METHODS.filter((method) => method !== 'CONNECT')
  for (const method of known) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method)
  for (const [url, methods] of paths)
    app.route({
      method: known.filter((method) => !methods.includes(method)),
      url,
      // Before a body is read, whatever it is.
      onRequest: async (_, reply) => refuse(reply.header('allow', methods.join(', '))),
      handler: () => undefined,
    })
}
