// The connection pool to the provider: HTTPS unless it is on this machine, with a configured proxy and a private CA.
import type { ClientCertificate } from '../domain/download.js'
import type { SettingProblem } from '../domain/problem.js'
import { isThisMachine } from '../domain/this-machine.js'
import type { LookupFunction } from 'node:net'
import { rootCertificates } from 'node:tls'
import { Pool } from 'undici'
import { proxyFor, tunnel } from './proxy.js'

export type ConnectSettings = {
  readonly apiKey: string
  readonly concurrency: number
  readonly allowHttp: boolean
  readonly connectTimeoutMs: number
}

/** Sends the requests to the provider. */
export type HttpDispatcher = Pick<Pool, 'dispatch' | 'connect' | 'destroy'>

export type ConnectDependencies = {
  /** For HTTPS_PROXY, HTTP_PROXY and NO_PROXY, in either case. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Certificate authorities (PEM) to trust in addition to the default ones. */
  readonly ca?: string
  /** The client certificate with its key, for mutual TLS. */
  readonly certificate?: ClientCertificate | undefined
  /** Resolves names; absent: the resolver of the system. */
  readonly lookup?: LookupFunction | undefined
  /** Used instead of a pool of connections. */
  readonly dispatcher?: HttpDispatcher | undefined
}

/** `unix:/path` is a socket of this machine. */
export const isSocket = (base: URL): boolean => base.protocol === 'unix:'

/** Every invalid setting; the message never contains the key. */
export class UnusableSettings extends Error {
  constructor(readonly problems: readonly SettingProblem[]) {
    super(problems.map(({ setting, message }) => `${setting} ${message}`).join('; '))
  }
}

/** Throws UnusableSettings. */
export const refuseUnusable = (settings: ConnectSettings, base: URL): void => {
  const problems: SettingProblem[] = []
  const refuse = (name: string, message: string): void => {
    problems.push({ setting: `intel.service.${name}`, message })
  }
  if (base.protocol !== 'https:' && base.protocol !== 'http:' && !isSocket(base)) refuse('baseUrl', 'must be https')
  if (base.protocol === 'http:' && !settings.allowHttp && !isThisMachine(base.hostname))
    refuse('baseUrl', 'must be https; intel.service.allowHttp permits sending the key unencrypted')
  if (base.username !== '' || base.password !== '') refuse('baseUrl', 'must not contain a password')
  if (!/^[\x21-\x7e]*$/.test(settings.apiKey)) refuse('apiKey', 'contains characters that are not allowed in a header')
  if (problems.length > 0) throw new UnusableSettings(problems)
}

/** Never uses a proxy for a provider on this machine. */
export const connect = (
  settings: { readonly concurrency: number; readonly connectTimeoutMs: number },
  base: URL,
  { env, ca, certificate, lookup, dispatcher }: ConnectDependencies,
): HttpDispatcher => {
  if (dispatcher) return dispatcher
  const proxy = isSocket(base) || isThisMachine(base.hostname) ? undefined : proxyFor(base, env)
  const trusted = ca === undefined ? undefined : [...rootCertificates, ca]
  const timeout = settings.connectTimeoutMs
  return new Pool(isSocket(base) ? 'http://localhost' : base.origin, {
    ...(isSocket(base) && { socketPath: base.pathname }),
    connections: settings.concurrency,
    pipelining: 1,
    connect: proxy
      ? (_, done) => tunnel(proxy, base, { ca: trusted, ...certificate }, timeout, done)
      : { timeout, ...(trusted === undefined ? {} : { ca: trusted }), ...certificate, ...(lookup && { lookup }) },
    // Our own timers cover whole phases; those of the library restart with every byte.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
}
