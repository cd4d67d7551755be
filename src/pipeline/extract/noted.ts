// Notes the named values in an event's text, for the requested names.
import type { Names, Noted } from '../../domain/sighting.js'

const maxNames = 1024

/** For an event without named values. It saves reading the event again, which took 7 % of the time of a flood of flagged JSON events. */
export const nothingNamed: Noted = { names: { has: () => true }, values: {}, isNothing: true }

type Notes = {
  /** Starts the next event. */
  readonly begin: () => void
  readonly note: (name: string, value: unknown) => void
  readonly result: () => Noted
}

/** The first value of a name counts, because a later one may be attacker input. */
export const createNotes = (names: Names): Notes => {
  const nothing: Noted = { names, values: {} }
  let values: Record<string, unknown> | undefined
  let count = 0
  return {
    begin: () => {
      values = undefined
      count = 0
    },
    note: (name, value) => {
      if (count >= maxNames || !names.has(name)) return
      values ??= Object.create(null) as Record<string, unknown>
      if (name in values) return
      count++
      values[name] = value
    },
    result: () => (values ? { names, values } : nothing),
  }
}
