// Decides which hosts are public, as a guard against SSRF in scans, fetched feeds and redirects.
import { parseRange, readAddress, type Address } from './address.js'
import { createRangeSet } from './range-set.js'
import { isInternalName } from './internal-names.js'
import { hasPublicSuffix } from './public-suffix.js'
import { specialReason } from './special-ranges.js'

/**
 * Public-looking addresses of cloud platforms: metadata, agents and private endpoints.
 * The others (169.254.169.254, 100.100.100.200, 192.0.0.192, fd00:ec2::254, …) lie in private or special ranges.
 */
const ranges = [
  '168.63.129.16/32', // Azure: wire server, DNS, health probes
  '161.26.0.0/16', // IBM Cloud: services of its private network
  '166.8.0.0/14', // IBM Cloud: private endpoints
  '192.80.8.124/32', // Equinix Metal: metadata
  '199.36.153.4/30', // Google Cloud: restricted.googleapis.com
  '199.36.153.8/30', // Google Cloud: private.googleapis.com
].flatMap((text) => parseRange(text) ?? [])

const platform = createRangeSet(ranges)

const isPlatformAddress = (address: Address): boolean => platform.has(address)

/** Neither an inside address nor one of a cloud platform. */
export const isPublicAddress = (text: string): boolean => {
  const address = readAddress(text)
  return address !== undefined && specialReason(address) === undefined && !isPlatformAddress(address)
}

/** A name in lower case that could exist in public DNS; its addresses are checked separately. */
export const isPublicName = (name: string): boolean => {
  const host = name.replace(/\.$/, '')
  return host.includes('.') && !isInternalName(host) && hasPublicSuffix(host)
}
