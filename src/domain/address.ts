// IP addresses in their normal form, and the ranges they fall into.
import { isIP } from 'node:net'

/** An address, or a range written as address/bits. */
export const isCidr = (text: string): boolean => {
  const [address = '', bits, ...rest] = text.split('/')
  const version = isIP(address)
  if (version === 0 || rest.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128))
}
