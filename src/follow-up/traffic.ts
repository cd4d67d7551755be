// The directions and actions of counted events as bits, one for each pair.
import { actions, directions, type Traffic } from '../domain/sighting.js'

const pairs: readonly Traffic[] = actions.flatMap((action) => directions.map((direction) => ({ direction, action })))

export const trafficBits = 2 ** pairs.length - 1

const bitAt = (place: number): number => 1 << place

export const trafficBit = ({ direction, action }: Traffic): number =>
  bitAt(actions.indexOf(action) * directions.length + directions.indexOf(direction))

/** Of events that were counted before directions and actions were. */
export const unknownTraffic = trafficBit({ direction: 'unknown', action: 'unknown' })

/** What was allowed comes first. */
export const trafficIn = (bits: number): readonly Traffic[] => pairs.filter((_, place) => bits & bitAt(place))
