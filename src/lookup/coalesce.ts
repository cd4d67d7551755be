// Many asks about one indicator at the same time become one flight that all of them share.
import type { Finding } from '../domain/finding.js'
import { keyOf, type Indicator } from '../domain/indicator.js'
import type { Ask, Layer } from '../domain/lookup.js'

/**
 * Nobody can cancel a flight, so a caller that leaves takes nothing from the others. The entry goes only after the inner promise
 * settled, and whoever remembers does so before that: no microtask is left in which a second call could slip through.
 * Every asker of one flight gets the same promise.
 */
export const coalesce =
  (joined?: (indicator: Indicator, ask: Ask) => void): Layer =>
  (inner) => {
    const flights = new Map<string, Promise<Finding>>()
    return (indicator, ask) => {
      const key = keyOf(indicator)
      const flying = flights.get(key)
      if (flying) {
        joined?.(indicator, ask)
        return flying
      }
      const found = inner(indicator, ask)
      if (!(found instanceof Promise)) return found
      const land = (finding: Finding): Finding => {
        flights.delete(key)
        return finding
      }
      const flight = found.then(land, () => land({ status: 'unknown', reason: 'bad_answer' }))
      flights.set(key, flight)
      return flight
    }
  }
