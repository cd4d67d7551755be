// Encodes the directions and actions of counted events as bits, one per pair.
import { actions, directions, type Traffic } from '../domain/sighting.js'

const pairs: readonly Traffic[] = actions.flatMap((action) => directions.map((direction) => ({ direction, action })))

export const trafficBits = 2 ** pairs.length - 1

const bitAt = (place: number): number => 1 << place

export const trafficBit = ({ direction, action }: Traffic): number =>
  bitAt(actions.indexOf(action) * directions.length + directions.indexOf(direction))

/** For counts of a version without directions and actions. */
export const unknownTraffic = trafficBit({ direction: 'unknown', action: 'unknown' })

/** Allowed traffic comes first. */
export const trafficIn = (bits: number): readonly Traffic[] => pairs.filter((_, place) => bits & bitAt(place))
