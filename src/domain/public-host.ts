// Which hosts are public: the rule for whatever connects to where somebody else says, scans and fetched feeds.
import { readAddress } from './address.js'
import { isInternalName } from './internal-names.js'
import { isPlatformAddress } from './platform-addresses.js'
import { hasPublicSuffix } from './public-suffix.js'
import { specialReason } from './special-ranges.js'

/** Neither inside a network nor of the platform that this machine may run on. */
export const isPublicAddress = (text: string): boolean => {
  const address = readAddress(text)
  return address !== undefined && specialReason(address) === undefined && !isPlatformAddress(address)
}

/** A name that the internet could know, in lower case; what it leads to is another question. */
export const isPublicName = (name: string): boolean => {
  const host = name.replace(/\.$/, '')
  return host.includes('.') && !isInternalName(host) && hasPublicSuffix(host)
}
