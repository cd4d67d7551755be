// What `history` is asked about: an address, a range, or a name with the names below it.
import { parseRange, readAddress } from '../../domain/address.js'
import { parseHostname } from '../../domain/hostname.js'
import type { Indicator } from '../../domain/indicator.js'
import { createRangeSet } from '../../domain/range-set.js'

type Subject = { readonly text: string; readonly covers: (indicator: Indicator) => boolean }

export const parseSubject = (text: string): Subject | undefined => {
  const range = parseRange(text)
  if (range) {
    const set = createRangeSet([range])
    const covers = ({ type, value }: Indicator): boolean => {
      const address = type === 'ip' ? readAddress(value) : undefined
      return address !== undefined && set.has(address)
    }
    return { text, covers }
  }
  const name = parseHostname(text)
  if (name === undefined) return undefined
  return {
    text: name,
    covers: ({ type, value }) => type === 'domain' && (value === name || value.endsWith(`.${name}`)),
  }
}
