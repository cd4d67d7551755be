// Downloads a file over HTTPS, with limits on size, time and redirects. It shares the proxy support and the HTTP library
// with the client of the provider.
import { createWriteStream } from 'node:fs'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Client, type Dispatcher } from 'undici'
import type { ClientCertificate, Download, Downloaded, DownloadRequest } from '../domain/download.js'
import { isThisMachine } from '../domain/this-machine.js'
import { proxyFor, tunnel } from './proxy.js'
import { internet, vetHost, type Internet, type VettedHost } from './vet-host.js'

type DownloadLimits = {
  readonly maxBytes: number
  readonly maxRedirects: number
  readonly connectMs: number
  /** Without a byte. */
  readonly silenceMs: number
  readonly totalMs: number
}

const defaults: DownloadLimits = {
  maxBytes: 256 * 1024 * 1024,
  maxRedirects: 5,
  connectMs: 10_000,
  silenceMs: 30_000,
  totalMs: 600_000,
}

type Env = Readonly<Record<string, string | undefined>>
type Failed = Extract<Downloaded, { status: 'failed' }>

const failed = (message: string, retryAfterMs?: number, answered?: number): Failed => ({
  status: 'failed',
  message,
  ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  ...(answered === undefined ? {} : { answered }),
})

/** `network` replaces the internet in tests. */
export const createDownload = (
  env: Env,
  given: Partial<DownloadLimits> = {},
  network: Partial<Internet> = {},
): Download => {
  const limits = { ...defaults, ...given }
  return async (request) => {
    const late = AbortSignal.timeout(limits.totalMs)
    const signal = AbortSignal.any([request.signal, late])
    try {
      return await follow(request, env, limits, { ...internet, ...network }, signal)
    } catch (error) {
      return late.aborted ? failed(`took longer than ${limits.totalMs / 1000} s`) : failed(wordsOf(error))
    }
  }
}

const follow = async (
  request: DownloadRequest,
  env: Env,
  limits: DownloadLimits,
  network: Internet,
  signal: AbortSignal,
): Promise<Downloaded> => {
  const home = new URL(request.url)
  let url = home
  for (let redirects = 0; redirects <= limits.maxRedirects; redirects++) {
    const refusal = refusalOf(url, request.allowHttp)
    if (refusal !== undefined) return failed(refusal)
    const host = vetHost(url, home, network)
    if (host.isRefused)
      return failed(`was redirected to ${url.host}, which is not public; only the host of url itself may be inside`)
    const isHome = url.origin === home.origin
    const client = clientOf(url, env, limits, host, isHome ? request.clientCertificate : undefined)
    try {
      const answer = await client.request({
        method: request.body === undefined ? 'GET' : 'POST',
        path: url.pathname + url.search,
        headers: headersFor(request, isHome),
        ...(request.body !== undefined && { body: request.body }),
        signal,
      })
      const location = redirectOf(answer)
      if (location === undefined) return await take(answer, request, limits, signal)
      if (request.body !== undefined) return failed('was redirected: use the final URL')
      if (!URL.canParse(location, url.href)) return failed('was redirected to an invalid URL')
      url = new URL(location, url)
    } finally {
      await client.destroy()
    }
  }
  return failed(`was redirected more than ${limits.maxRedirects} times`)
}

const refusalOf = ({ protocol, hostname }: URL, allowHttp: boolean): string | undefined => {
  if (protocol === 'https:' || (protocol === 'http:' && (allowHttp || isThisMachine(hostname)))) return undefined
  return protocol === 'http:'
    ? 'would use plain HTTP, so anyone on the network path could change the list: use https, or set allowHttp'
    : 'is not an https URL'
}

/** Sends headers, which may hold a key, only to the configured host, never to the target of a redirect. */
const headersFor = (
  { headers, etag, lastModified, body }: DownloadRequest,
  isHome: boolean,
): Record<string, string> => ({
  accept: '*/*',
  'accept-encoding': 'gzip',
  'user-agent': 'threatweave',
  ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  ...(etag === undefined ? {} : { 'if-none-match': etag }),
  ...(lastModified === undefined ? {} : { 'if-modified-since': lastModified }),
  ...(isHome ? headers : {}),
})

const clientOf = (
  url: URL,
  env: Env,
  { connectMs, silenceMs }: DownloadLimits,
  { lookup }: VettedHost,
  certificate: ClientCertificate | undefined,
): Client => {
  const proxy = isThisMachine(url.hostname) ? undefined : proxyFor(url, env)
  return new Client(url.origin, {
    connect: proxy
      ? (_, done) => tunnel(proxy, url, { ...certificate }, connectMs, done)
      : { timeout: connectMs, lookup, ...certificate },
    headersTimeout: silenceMs,
    bodyTimeout: silenceMs,
  })
}

const textOf = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value[0] : value)

const redirectOf = ({ statusCode, headers }: Dispatcher.ResponseData): string | undefined =>
  [301, 302, 303, 307, 308].includes(statusCode) ? textOf(headers.location) : undefined

const take = async (
  { statusCode, headers, body }: Dispatcher.ResponseData,
  request: DownloadRequest,
  limits: DownloadLimits,
  signal: AbortSignal,
): Promise<Downloaded> => {
  if (statusCode === 304) return { status: 'same' }
  if (statusCode !== 200) return failed(meaningOf(statusCode), retryAfter(textOf(headers['retry-after'])), statusCode)
  const maxBytes = Math.min(limits.maxBytes, request.maxBytes ?? limits.maxBytes)
  const tooLarge = failed(`is larger than ${maxBytes} bytes`)
  if (Number(headers['content-length'] ?? 0) > maxBytes) return tooLarge
  let bytes = 0
  const count = new Transform({
    transform: (chunk: Buffer, _, done) => {
      bytes += chunk.length
      done(bytes > maxBytes ? new Error('too large') : null, chunk)
    },
  })
  try {
    // The body stays compressed, because the reader of the file handles gzip.
    await pipeline(body, count, createWriteStream(request.file, { mode: 0o600 }), { signal })
  } catch (error) {
    if (bytes > maxBytes) return tooLarge
    throw error
  }
  const etag = textOf(headers.etag)
  const lastModified = textOf(headers['last-modified'])
  return {
    status: 'new',
    bytes,
    header: (name) => textOf(headers[name]),
    ...(etag !== undefined && { etag }),
    ...(lastModified !== undefined && { lastModified }),
  }
}

const meaningOf = (status: number): string => {
  if (status === 401 || status === 403)
    return `answered ${status}: the key is missing or refused; check headersFile or apiKeyFile`
  if (status === 404 || status === 410) return `answered ${status}: there is no list at this URL; check it`
  return `answered ${status}`
}

const longestRetryAfterMs = 86_400_000

const retryAfter = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,9}$/.test(text) ? Math.min(Number(text) * 1000, longestRetryAfterMs) : undefined

/** Uses the code of an error, because its message may repeat parts of the request. */
const wordsOf = (error: unknown): string => {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code.startsWith('ERR_OSSL_'))
    return `could not be fetched: its client certificate cannot be used; check clientCertFile and clientKeyFile (${code})`
  if (/^ERR_SSL_.*ALERT/.test(code))
    return `could not be fetched: the server closed the TLS connection and may require a known client certificate; check clientCertFile (${code})`
  return words[code] ?? `could not be fetched (${code === '' ? 'unknown error' : code})`
}

const words: Readonly<Record<string, string>> = {
  ENOTFOUND: 'could not be fetched: its host name has no address (ENOTFOUND)',
  ECONNREFUSED: 'could not be fetched: nobody listens there (ECONNREFUSED)',
  ERR_NOT_PUBLIC:
    'was not fetched: a host name in the redirects has an address that is not public; for a host of your own network use https',
  UND_ERR_CONNECT_TIMEOUT: 'could not be fetched: the connection timed out',
  UND_ERR_HEADERS_TIMEOUT: 'could not be fetched: the server did not answer in time',
  UND_ERR_BODY_TIMEOUT: 'could not be fetched: the answer stopped in the middle',
  UND_ERR_SOCKET: 'could not be fetched: the connection was cut before the answer was complete',
  ECONNRESET: 'could not be fetched: the connection was cut before the answer was complete',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'could not be fetched: the answer was cut off',
  DEPTH_ZERO_SELF_SIGNED_CERT:
    'could not be fetched: its certificate is not trusted (self-signed); NODE_EXTRA_CA_CERTS names further ones',
  SELF_SIGNED_CERT_IN_CHAIN:
    'could not be fetched: its certificate is not trusted; NODE_EXTRA_CA_CERTS names further ones',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'could not be fetched: its certificate is not trusted; NODE_EXTRA_CA_CERTS names further ones',
  ERR_TLS_CERT_ALTNAME_INVALID: 'could not be fetched: its certificate is for another name',
  CERT_HAS_EXPIRED: 'could not be fetched: its certificate has expired',
}
