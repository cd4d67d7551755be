// Addresses that look public and lead into the platform a machine runs on: metadata, agents and private endpoints of clouds.
import { parseRange, type Address } from './address.js'
import { createRangeSet } from './range-set.js'

/**
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

export const isPlatformAddress = (address: Address): boolean => platform.has(address)
