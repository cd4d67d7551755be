// Decides where a download may connect: to public hosts, and to the host in the operator's own URL.
import { lookup as resolveHost } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { isPublicAddress, isPublicName } from '../domain/public-host.js'

/** The network as a download sees it. */
export type Internet = {
  readonly resolve: (host: string) => Promise<readonly { readonly address: string; readonly family: number }[]>
  readonly isPublicAddress: (address: string) => boolean
}

export const internet: Internet = { resolve: (host) => resolveHost(host, { all: true }), isPublicAddress }

class NotPublic extends Error {
  readonly code = 'ERR_NOT_PUBLIC'
}

export type VettedHost = {
  /** Judged by the URL alone, which is all there is if a proxy resolves the name. */
  readonly isRefused: boolean
  /** The resolver of the connection; fails if the name has a forbidden address. */
  readonly lookup: LookupFunction
}

/** `home` is the configured URL. */
export const vetHost = (url: URL, home: URL, { resolve, isPublicAddress }: Internet): VettedHost => {
  const bare = url.hostname.replace(/^\[|\]$/g, '')
  const isPublic = isIP(bare) === 0 ? isPublicName(bare) : isPublicAddress(bare)
  const isHome = url.hostname === home.hostname
  // A public name may resolve to an inside address only over https, because a certificate proves the host and DNS does not.
  const mayBeInside = isHome && (!isPublic || url.protocol === 'https:')
  return {
    isRefused: !isPublic && !isHome,
    lookup: (host, { all }, done) => {
      resolve(host).then(
        (addresses) => {
          const [first] = addresses
          // One non-public address rejects the whole name, which was set up to reach a forbidden target.
          const isGood = first && (mayBeInside || addresses.every(({ address }) => isPublicAddress(address)))
          if (!isGood) done(new NotPublic(), '')
          else if (all) done(null, [...addresses])
          else done(null, first.address, first.family)
        },
        (error: unknown) => done(error as NodeJS.ErrnoException, ''),
      )
    },
  }
}
