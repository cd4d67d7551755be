// Collects our own public addresses from NAT fields in logs, to suggest them for gate.ownRanges.
import { formatAddress, readAddress, type Address } from './address.js'
import type { Extraction, Sighting } from './sighting.js'
import { isInside } from './special-ranges.js'

type OwnAddresses = {
  /** An own address that this event reveals for the first time. */
  readonly see: (extraction: Pick<Extraction, 'sightings' | 'flow'>) => string | undefined
  /** The addresses so far; several in one /24 become the smallest range that covers them. */
  readonly ranges: () => readonly string[]
}

/** The consequence of an empty gate.ownRanges. */
export const noOwnRanges =
  'is empty: a connection from outside to one of your public addresses counts as external, not inbound, unless the event marks your side'

/** Enough for a suggestion; a hostile log could contain many more. */
const maxAddresses = 64

export const createOwnAddresses = (): OwnAddresses => {
  const seen = new Set<string>()
  return {
    see: (extraction) => {
      if (seen.size >= maxAddresses) return undefined
      const address = ownAddressIn(extraction)
      if (address === undefined || seen.has(address)) return undefined
      seen.add(address)
      return address
    },
    ranges: () => rangesOf([...seen]),
  }
}

/**
 * With one end inside, it is the public address that is not the other end. With two public ends and a translation to a private address, it
 * is the destination. Two public ends without a translation prove nothing.
 */
const ownAddressIn = ({ sightings, flow }: Pick<Extraction, 'sightings' | 'flow'>): string | undefined => {
  if (flow?.isReply === true || !sightings.some(isTranslated)) return undefined
  const source = sightings.find((one) => one.type === 'ip' && one.role === 'source')
  const destination = sightings.find((one) => one.type === 'ip' && one.role === 'destination')
  if (source === undefined || destination === undefined) return undefined
  const [isFromInside, isToInside] = [isOfNetwork(source), isOfNetwork(destination)]
  if (isFromInside && isToInside) return undefined
  if (!isFromInside && !isToInside)
    return sightings.some((one) => isTranslated(one) && isOfNetwork(one)) ? destination.value : undefined
  // In an outgoing connection the translated destination belongs to the other side.
  return sightings.find(
    (one) =>
      isTranslated(one) &&
      !isOfNetwork(one) &&
      one.value !== source.value &&
      one.value !== destination.value &&
      !(isFromInside && namesDestination.test(one.field)),
  )?.value
}

const namesDestination = /dst|dest/i
const isTranslated = ({ type, role }: Sighting): boolean => type === 'ip' && role === 'translated'

const isOfNetwork = ({ value }: Sighting): boolean => {
  const address = readAddress(value)
  return address === undefined || isInside(address)
}

const rangesOf = (values: readonly string[]): readonly string[] => {
  const networks = new Map<string, Address[]>()
  for (const value of values) {
    const address = readAddress(value)
    if (address === undefined) continue
    const network = typeof address === 'number' ? String(address >>> 8) : value
    const others = networks.get(network)
    if (others) others.push(address)
    else networks.set(network, [address])
  }
  return [...networks.values()].map(covering)
}

const covering = (addresses: readonly Address[]): string => {
  const [first, ...others] = addresses as readonly [Address, ...Address[]]
  if (typeof first !== 'number' || others.length === 0) return formatAddress(first)
  let differing = 0
  for (const other of others) differing |= first ^ Number(other)
  const bits = 32 - Math.clz32(differing)
  return `${formatAddress(((first >>> bits) << bits) >>> 0)}/${32 - bits}`
}
