// Who may see what: a request must name a host we know, and what is more than health and metrics needs a token off this machine.
import { createHash, timingSafeEqual } from 'node:crypto'
import { isIP } from 'node:net'

export type Visitor = {
  readonly host: string | undefined
  /** The address of the other end. */
  readonly peer: string | undefined
  /** Whether somebody passed the request on: then its sender is not who is connected. */
  readonly forwarded: boolean
  readonly authorization: string | undefined
}

export type Guard = {
  /** An address cannot be taken over by a site's own DNS, a name can. */
  readonly knowsHost: (visitor: Visitor) => boolean
  readonly maySee: (visitor: Visitor) => boolean
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

/** Equal length for every text, as the comparison wants it. */
const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

const hostnameOf = (host: string | undefined): string | undefined => {
  if (host === undefined || host.length > 300) return undefined
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9._-]+))(?::\d{1,5})?$/.exec(host)
  return (match?.[1] ?? match?.[2])?.toLowerCase().replace(/\.$/, '')
}

const isLoopback = (address: string | undefined): boolean =>
  address !== undefined && (address === '::1' || /^(?:::ffff:)?127\./.test(address))

/** As bearer token, or as the password that a browser asks for. */
const tokenOf = (authorization: string | undefined): string | undefined => {
  if (authorization === undefined || authorization.length > 1024) return undefined
  const [scheme = '', value = ''] = authorization.split(' ')
  if (scheme.toLowerCase() === 'bearer') return value
  if (scheme.toLowerCase() !== 'basic') return undefined
  const pair = Buffer.from(value, 'base64').toString('utf8')
  return pair.includes(':') ? pair.slice(pair.indexOf(':') + 1) : undefined
}
