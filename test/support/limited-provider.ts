// A provider on loopback with a concurrency limit and a latency, which counts its calls.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export type LimitedProvider = {
  readonly url: string
  /** The number of calls about each address. */
  readonly asked: Map<string, number>
  /** Every call with its time. */
  readonly calls: { readonly ip: string; readonly at: number }[]
  mostInFlight: number
  inFlight: number
  refused: number
  readonly close: () => Promise<void>
}

export const startLimitedProvider = async (allowed: number, latencyMs: number): Promise<LimitedProvider> => {
  const server = createServer((request, response) => {
    provider.inFlight++
    provider.mostInFlight = Math.max(provider.mostInFlight, provider.inFlight)
    const send = (body: object): void => {
      provider.inFlight--
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    }
    if (provider.inFlight > allowed) {
      provider.refused++
      send({ status: 400, message: 'unable to call api at the same time' })
      return
    }
    const ip = new URL(request.url ?? '/', 'http://provider').searchParams.get('ip') ?? ''
    provider.asked.set(ip, (provider.asked.get(ip) ?? 0) + 1)
    provider.calls.push({ ip, at: Date.now() })
    setTimeout(() => send({ status: 200, ip, is_malicious: false }), latencyMs)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const provider: LimitedProvider = {
    url: `http://127.0.0.1:${port}`,
    asked: new Map(),
    calls: [],
    mostInFlight: 0,
    inFlight: 0,
    refused: 0,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return provider
}
