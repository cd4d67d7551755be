// Parses scan targets: a public name or address, over http or https, without credentials.
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

/** Whether the scanner may connect to this address; called right before each connection. */
export type MayConnect = (address: string, port: number, host: string) => boolean

/** Allows only public addresses on ports 80 and 443; no inside addresses and none of cloud platforms. */
export const onlyPublicWeb: MayConnect = (address, port, host) =>
  isPublicAddress(address) && (port === 80 || port === 443) && !isInternalName(host)

const maxLength = 2_048

/** A bare name or address means http. Undefined if the text is not a valid target. */
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
