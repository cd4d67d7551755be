// The network of a peer: the /24 or /64 within which one owner can choose addresses at will.
import { formatAddress, readAddress } from './address.js'
import { isInside } from './special-ranges.js'

/** Undefined for an inside address, because the machines of our own network have different users. */
export const networkOf = (peer: string): string | undefined => {
  const address = readAddress(peer)
  if (address === undefined || isInside(address)) return undefined
  if (typeof address === 'number') return `${formatAddress(address - (address % 256))}/24`
  return `${formatAddress([address[0], address[1], 0, 0])}/64`
}
