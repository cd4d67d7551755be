// A provider on loopback that counts calls and rejects a second concurrent call, like the real one.
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Upstream = {
  readonly url: string
  /** Method, path and query of every answered call. */
  readonly calls: string[]
  readonly keys: Set<string | undefined>
  mostInFlight: number
  refused: number
  /** Replaces the usual answer. */
  reply: ((request: IncomingMessage) => { http?: number; body: object } | undefined) | undefined
  latencyMs: number
  /** Answers wait for this. */
  held: Promise<void>
  readonly close: () => Promise<void>
}

const usual = (url: URL): object => {
  const ip = url.searchParams.get('ip')
  if (ip !== null) return { ip, is_malicious: ip.endsWith('.1'), is_vpn: false, status: 200 }
  if (url.pathname.startsWith('/v1/domain/scan'))
    return { status: 200, message: 'api success', data: { scan_id: 1_000_777, query: 'http://example.com' } }
  return { status: 200, message: 'api success', data: { path: url.pathname, api_key: 'echoed' } }
}

export const startUpstream = async (): Promise<Upstream> => {
  let inFlight = 0
  const server: Server = createServer((request, response) => {
    inFlight++
    upstream.mostInFlight = Math.max(upstream.mostInFlight, inFlight)
    upstream.keys.add(request.headers['x-api-key'] as string | undefined)
    const send = (http: number, body: object): void => {
      inFlight--
      response.writeHead(http, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    }
    request.resume()
    if (inFlight > 1) {
      upstream.refused++
      send(200, { status: 400, message: 'unable to call api at the same time' })
      return
    }
    upstream.calls.push(`${request.method ?? ''} ${request.url ?? ''}`)
    const other = upstream.reply?.(request)
    const answer = other?.body ?? usual(new URL(request.url ?? '/', 'http://upstream'))
    setTimeout(() => void upstream.held.then(() => send(other?.http ?? 200, answer)), upstream.latencyMs)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const upstream: Upstream = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: [],
    keys: new Set(),
    mostInFlight: 0,
    refused: 0,
    reply: undefined,
    latencyMs: 1,
    held: Promise.resolve(),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
  return upstream
}
