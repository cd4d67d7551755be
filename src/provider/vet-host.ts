// Where a download may connect: to public hosts, whoever redirects there, and to the one that the operator's own URL names.
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
  /** By what the URL itself says; all that can be said where a proxy resolves the name. */
  readonly isRefused: boolean
  /** For the connection: fails where the name has an address that may not be connected to. */
  readonly lookup: LookupFunction
}

/** `home` is the operator's own URL. */
export const vetHost = (url: URL, home: URL, { resolve, isPublicAddress }: Internet): VettedHost => {
  const bare = url.hostname.replace(/^\[|\]$/g, '')
  const isPublic = isIP(bare) === 0 ? isPublicName(bare) : isPublicAddress(bare)
  const isHome = url.hostname === home.hostname
  // A public name may lead inside only where a certificate shows that it is the host that was named, and not its DNS alone.
  const mayBeInside = isHome && (!isPublic || url.protocol === 'https:')
  return {
    isRefused: !isPublic && !isHome,
    lookup: (host, { all }, done) => {
      resolve(host).then(
        (addresses) => {
          const [first] = addresses
          // With any address that is not public the name is refused as a whole: it is set up to reach somewhere it should not.
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
