// What may be scanned: a public name or address, over http or https, without credentials.
import { isIP } from 'node:net'
import { parseAddress } from '../../domain/address.js'
import { parseHostname } from '../../domain/hostname.js'
import { isInternalName } from '../../domain/internal-names.js'
import { isPublicAddress } from '../../domain/public-host.js'

export type ScanTarget = {
  readonly url: URL
  readonly host: string
  readonly port: number
  readonly isAddress: boolean
}

/** Whether the scanner may open a connection there; asked with the very address it is about to connect to. */
export type MayConnect = (address: string, port: number, host: string) => boolean

/** Public addresses on the two ports of the web, and nothing inside a network or of the platform that this machine may run on. */
export const onlyPublicWeb: MayConnect = (address, port, host) =>
  isPublicAddress(address) && (port === 80 || port === 443) && !isInternalName(host)

const maxLength = 2_048

/** A bare name or address is taken for http. Undefined when it is nothing that can be visited. */
export const parseTarget = (text: string): ScanTarget | undefined => {
  const trimmed = text.trim()
  if (trimmed === '' || trimmed.length > maxLength) return undefined
  const isBareIPv6 = isIP(trimmed) === 6
  const withScheme = trimmed.includes('://') ? trimmed : `http://${isBareIPv6 ? `[${trimmed}]` : trimmed}`
  return URL.canParse(withScheme) ? scanTargetOf(new URL(withScheme)) : undefined
}

export const scanTargetOf = (url: URL): ScanTarget | undefined => {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined
  if (url.username !== '' || url.password !== '' || url.href.length > maxLength) return undefined
  const bare = url.hostname.replace(/^\[|\]$/g, '')
  const address = parseAddress(bare)
  const host = address ?? parseHostname(bare)
  if (host === undefined) return undefined
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)
  return { url, host, port, isAddress: address !== undefined }
}
