// Selects the proxy for a URL from the environment, and opens a tunnel through it.
// The tunnel is our own, because that of the HTTP client retries forever without a pause when a proxy hangs up.
import type { IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { http } from '../base/node-http.js'
import type { ClientCertificate } from '../domain/download.js'

type Env = Readonly<Record<string, string | undefined>>

/** HTTPS_PROXY or HTTP_PROXY by the scheme of the target, unless NO_PROXY lists it; lower-case variables take precedence. */
export const proxyFor = (target: URL, env: Env): URL | undefined => {
  const name = target.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY'
  const proxy = env[name.toLowerCase()] ?? env[name] ?? ''
  if (proxy === '' || isExempt(target, env.no_proxy ?? env.NO_PROXY ?? '')) return undefined
  // The message does not repeat the value, which may contain a password.
  if (!URL.canParse(proxy) || !/^https?:$/.test(new URL(proxy).protocol))
    throw new Error(`${name} is not a URL such as http://proxy.example.com:3128`)
  return new URL(proxy)
}

/** NO_PROXY: `*`, or names with their subdomains, each with an optional port. */
const isExempt = (target: URL, list: string): boolean =>
  list.split(/[,\s]+/).some((entry) => {
    if (entry === '*') return true
    const [, name = '', port] = /^(?:\*?\.)?(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? []
    if (name === '' || (port !== undefined && port !== portOf(target))) return false
    return target.hostname === name || target.hostname.endsWith(`.${name}`)
  })

const portOf = ({ port, protocol }: URL): string => (port !== '' ? port : protocol === 'https:' ? '443' : '80')

type Done = (...result: [error: null, socket: Socket] | [error: Error, socket: null]) => void

class TunnelError extends Error {
  constructor(readonly code: string) {
    super(code)
  }
}

export const tunnel = (
  proxy: URL,
  target: URL,
  { ca, ...client }: { readonly ca?: string[] | undefined } & Partial<ClientCertificate>,
  timeoutMs: number,
  done: Done,
): void => {
  const authority = `${target.hostname}:${portOf(target)}`
  const login = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`
  const request = (proxy.protocol === 'https:' ? httpsRequest : http.request)({
    host: proxy.hostname.replace(/^\[|\]$/g, ''),
    port: portOf(proxy),
    method: 'CONNECT',
    path: authority,
    headers: {
      host: authority,
      ...(login === ':' ? {} : { 'proxy-authorization': `Basic ${Buffer.from(login).toString('base64')}` }),
    },
    agent: false,
    ...(ca === undefined ? {} : { ca }),
  })
  let socket: Socket | undefined
  let isOver = false
  const end = (error: Error | undefined, opened?: Socket): void => {
    if (isOver) return
    isOver = true
    clearTimeout(timer)
    if (opened) {
      done(null, opened)
      return
    }
    request.destroy()
    socket?.destroy()
    done(error ?? new TunnelError('PROXY_FAILED'), null)
  }
  const timer = setTimeout(() => end(new TunnelError('PROXY_TIMEOUT')), timeoutMs)
  const refused = ({ statusCode = 0 }: IncomingMessage): void => end(new TunnelError(`PROXY_ANSWERED_${statusCode}`))
  request.on('error', end)
  request.once('response', refused)
  request.once('connect', (response: IncomingMessage, plain: Socket) => {
    socket = plain
    if (response.statusCode !== 200) {
      refused(response)
      return
    }
    plain.on('error', end)
    if (target.protocol !== 'https:') {
      end(undefined, plain)
      return
    }
    const secure = connectTls({
      socket: plain,
      servername: target.hostname,
      ALPNProtocols: ['http/1.1'],
      ...(ca === undefined ? {} : { ca }),
      ...client,
    })
    secure.once('secureConnect', () => end(undefined, secure))
    secure.on('error', end)
  })
  request.end()
}
