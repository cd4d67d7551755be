// Flights are lookups under way, seen from those who wait: each promise is listened to once, however many events hang on it.
import type { Clock } from '../domain/clock.js'
import type { Finding } from '../domain/finding.js'

export type Flight = {
  readonly promise: Promise<Finding>
  finding?: Finding
  readonly waiting: Set<() => void>
}

export type Flights = {
  readonly of: (promise: Promise<Finding>) => Flight
  /** Resolves when all have landed, or after the deadline if there is one. Leaves nothing behind at those that have not. */
  readonly settled: (flights: readonly Flight[], clock: Clock, deadlineMs?: number) => Promise<void>
}

export const createFlights = (): Flights => {
  // Reactions of a promise cannot be taken back: one per event would pile up at a lookup that hangs.
  const flights = new Map<Promise<Finding>, Flight>()
  return {
    of: (promise) => {
      const known = flights.get(promise)
      if (known) return known
      const flight: Flight = { promise, waiting: new Set() }
      flights.set(promise, flight)
      const land = (finding: Finding): void => {
        flight.finding = finding
        flights.delete(promise)
        for (const landed of flight.waiting) landed()
        flight.waiting.clear()
      }
      promise.then(land, () => land({ status: 'unknown', reason: 'bad_answer' }))
      return flight
    },
    settled: (awaited, clock, deadlineMs) =>
      new Promise((resolve) => {
        let left = 0
        const landed = (): void => {
          if (--left === 0) finish()
        }
        const finish = (): void => {
          cancel?.()
          for (const flight of awaited) flight.waiting.delete(landed)
          resolve()
        }
        for (const flight of awaited) {
          if (flight.finding) continue
          left++
          flight.waiting.add(landed)
        }
        const cancel = deadlineMs === undefined || left === 0 ? undefined : clock.after(deadlineMs, finish)
        if (left === 0) resolve()
      }),
  }
}
