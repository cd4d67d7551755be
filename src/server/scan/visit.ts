// Sends one request to a vetted address. The name is not resolved again, which prevents DNS rebinding.
import type { IncomingMessage, RequestOptions } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { PeerCertificate, TLSSocket } from 'node:tls'
import { http } from '../../base/node-http.js'
import type { ScanTarget } from './target.js'

export type Visit = {
  readonly url: string
  readonly host: string
  readonly address: string
  readonly port: number
  readonly status: number
  readonly headers: readonly (readonly [string, string])[]
  readonly location?: string
  readonly body: string
  readonly bytes: number
  readonly tls?: { readonly certificate: PeerCertificate; readonly protocol: string; readonly isTrusted: boolean }
}

export type VisitLimits = { readonly timeoutMs: number; readonly maxBytes: number }

const maxHeaderBytes = 32_768
const maxHeaders = 100

/** Undefined without an answer in time. */
export const visit = (
  target: ScanTarget,
  address: string,
  { timeoutMs, maxBytes }: VisitLimits,
  signal: AbortSignal,
): Promise<Visit | undefined> =>
  new Promise((resolve) => {
    const isSecure = target.url.protocol === 'https:'
    const options: RequestOptions = {
      host: address,
      port: target.port,
      method: 'GET',
      path: target.url.pathname + target.url.search,
      headers: {
        host: target.url.host,
        'user-agent': 'Mozilla/5.0 (compatible; threatweave-scan)',
        accept: 'text/html,*/*;q=0.5',
        'accept-encoding': 'identity',
        connection: 'close',
      },
      agent: false,
      maxHeaderSize: maxHeaderBytes,
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    }
    const onResponse = (response: IncomingMessage): void => {
      const chunks: Buffer[] = []
      let bytes = 0
      const done = (): void => {
        response.destroy()
        resolve(visitOf(target, address, response, Buffer.concat(chunks)))
      }
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk.subarray(0, maxBytes - bytes))
        bytes += chunk.length
        if (bytes >= maxBytes) done()
      })
      response.on('end', done)
      // A response that breaks off still counts with the part received.
      response.on('error', done)
    }
    const call = isSecure
      ? httpsRequest(
          {
            ...options,
            // The scan inspects the certificate, so an invalid one must not fail the connection.
            rejectUnauthorized: false,
            ...(target.isAddress ? {} : { servername: target.host }),
          },
          onResponse,
        )
      : http.request(options, onResponse)
    call.on('error', () => resolve(undefined))
    call.end()
  })

const visitOf = (target: ScanTarget, address: string, response: IncomingMessage, body: Buffer): Visit => {
  const socket = response.socket as Partial<TLSSocket>
  const headers: [string, string][] = []
  for (let i = 0; i + 1 < response.rawHeaders.length && headers.length < maxHeaders; i += 2)
    headers.push([response.rawHeaders[i] ?? '', response.rawHeaders[i + 1] ?? ''])
  const { location } = response.headers
  return {
    url: target.url.href,
    host: target.host,
    address,
    port: target.port,
    status: response.statusCode ?? 0,
    headers,
    body: body.toString('utf8'),
    bytes: body.length,
    ...(location === undefined ? {} : { location }),
    ...(socket.getPeerCertificate
      ? {
          tls: {
            certificate: socket.getPeerCertificate(),
            protocol: socket.getProtocol?.() ?? '',
            isTrusted: socket.authorized === true,
          },
        }
      : {}),
  }
}
