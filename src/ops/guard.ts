// Access control of the ops endpoint: known host names only, and a token for the status page from other machines.
import { createHash, timingSafeEqual } from 'node:crypto'
import { isIP } from 'node:net'

export type OpsClient = {
  readonly host: string | undefined
  /** The client's address. */
  readonly peer: string | undefined
  /** Whether a proxy forwarded the request; `peer` is then the proxy. */
  readonly forwarded: boolean
  readonly authorization: string | undefined
}

type Guard = {
  /** Accepts IP addresses and configured names; another name may be DNS rebinding. */
  readonly knowsHost: (client: OpsClient) => boolean
  readonly maySee: (client: OpsClient) => boolean
}

export const createGuard = (token: string, allowedHosts: readonly string[]): Guard => {
  const names = new Set(['localhost', ...allowedHosts.map((name) => name.toLowerCase())])
  const expected = digest(token)
  return {
    knowsHost: ({ host }) => {
      const name = hostnameOf(host)
      return name !== undefined && (isIP(name) !== 0 || names.has(name))
    },
    maySee: ({ peer, forwarded, authorization }) => {
      if (!forwarded && isLoopback(peer)) return true
      const shown = tokenOf(authorization)
      return token !== '' && shown !== undefined && timingSafeEqual(digest(shown), expected)
    },
  }
}

/** A constant-time comparison needs equal lengths. */
const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

const hostnameOf = (host: string | undefined): string | undefined => {
  if (host === undefined || host.length > 300) return undefined
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9._-]+))(?::\d{1,5})?$/.exec(host)
  return (match?.[1] ?? match?.[2])?.toLowerCase().replace(/\.$/, '')
}

const isLoopback = (address: string | undefined): boolean =>
  address !== undefined && (address === '::1' || /^(?:::ffff:)?127\./.test(address))

/** The bearer token, or the password of basic authentication. */
const tokenOf = (authorization: string | undefined): string | undefined => {
  if (authorization === undefined || authorization.length > 1024) return undefined
  const [scheme = '', value = ''] = authorization.split(' ')
  if (scheme.toLowerCase() === 'bearer') return value
  if (scheme.toLowerCase() !== 'basic') return undefined
  const pair = Buffer.from(value, 'base64').toString('utf8')
  return pair.includes(':') ? pair.slice(pair.indexOf(':') + 1) : undefined
}
