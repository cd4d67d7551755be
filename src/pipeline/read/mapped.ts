// Lists an inside address that a line writes IPv4-mapped also as it is written, for whoever searches for what the line says.
import { readAddress } from '../../domain/address.js'
import { specialReason } from '../../domain/special-ranges.js'
import type { Sightings } from './sightings.js'

const mapped = /::ffff:(\d{1,3}(?:\.\d{1,3}){3})(?![\d.])/gi
const maxMapped = 8

/** Only what is never asked about: a public address is listed once, as the IPv4 address it is. */
export const readMapped = (text: string, field: string, sightings: Sightings): void => {
  if (!text.includes('::ffff:') && !text.includes('::FFFF:')) return
  let count = 0
  for (const [, dotted = ''] of text.matchAll(mapped)) {
    const address = readAddress(dotted)
    if (address === undefined || specialReason(address) === undefined) continue
    sightings.add('ip', `::ffff:${dotted}`, field, 'other', 'text')
    if (++count === maxMapped) return
  }
}
