// A real HTTP server that answers like the lookup service and counts requests.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export type LookupServer = {
  readonly url: string
  /** Requested values in order, one per call. */
  readonly asked: string[]
  /** The urgencies that callers sent. */
  readonly urgencies: Set<string>
  readonly maxInFlight: () => number
  readonly close: () => Promise<void>
}

export const startLookupServer = async ({
  malicious = [],
  delayMs = 0,
  port = 0,
  hang = false,
  fail = false,
  held,
}: {
  malicious?: readonly string[]
  delayMs?: number
  port?: number
  /** Accepts every request and never answers. */
  hang?: boolean
  /** Answers every request with 500. */
  fail?: boolean
  /** Delays all answers until this resolves. */
  held?: Promise<void>
} = {}): Promise<LookupServer> => {
  const asked: string[] = []
  const urgencies = new Set<string>()
  let inFlight = 0
  let most = 0
  const server: Server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost')
    const ip = url.searchParams.get('ip')
    asked.push(ip ?? url.searchParams.get('query') ?? url.pathname)
    urgencies.add(String(request.headers['x-threatweave-urgency'] ?? 'live'))
    most = Math.max(most, ++inFlight)
    if (hang) return
    const answer = (): void => {
      inFlight--
      response.statusCode = fail ? 500 : 200
      response.setHeader('content-type', 'application/json')
      response.end(
        JSON.stringify(
          fail
            ? { status: 500, message: 'internal server error' }
            : ip === null
              ? { status: 200, message: 'api success', data: { count: 0, reports: [] } }
              : { ip, is_malicious: malicious.includes(ip), status: 200 },
        ),
      )
    }
    setTimeout(() => (held ? void held.then(answer) : answer()), delayMs)
  })
  await new Promise<void>((done) => server.listen(port, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    urgencies,
    maxInFlight: () => most,
    close: () =>
      new Promise((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}
