// Resolves a name with several gateway addresses, and starts with another address after a failed connection.
import type { LookupAddress, LookupOptions } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'

type RotatingLookup = {
  readonly lookup: LookupFunction
  /** The number of machines; an IPv4 and an IPv6 address count as one. */
  readonly count: () => Promise<number>
  readonly moveOn: () => void
}

type Resolve = (name: string, options: LookupOptions) => Promise<readonly LookupAddress[]>

const resolveAll: Resolve = (name, options) => lookup(name, { ...options, all: true })

export const createRotatingLookup = (hostname: string, resolve = resolveAll): RotatingLookup => {
  let first = 0
  const rotate = (addresses: readonly LookupAddress[]): LookupAddress[] =>
    addresses.map((_, nth) => addresses[(first + nth) % addresses.length] as LookupAddress)
  return {
    lookup: (name, options, done) => {
      void resolve(name, options).then(
        (addresses) => {
          const [one, ...others] = rotate(addresses)
          if (!one) done(new Error(`${name} has no address`), '')
          else if (options.all === true) done(null, [one, ...others])
          else done(null, one.address, one.family)
        },
        (error: unknown) => {
          done(error as NodeJS.ErrnoException, '')
        },
      )
    },
    count: async () => {
      if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) return 1
      const addresses = await resolve(hostname, {}).catch(() => [])
      const ofKind = (kind: number): number => addresses.filter(({ family }) => family === kind).length
      return Math.max(1, ofKind(4), ofKind(6))
    },
    moveOn: () => {
      first++
    },
  }
}
