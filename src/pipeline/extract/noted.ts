// Notes the values that have a name in an event's text, of the names that somebody asks for.
import type { Names, Noted } from '../../domain/sighting.js'

const maxNames = 1024

/** Of an event without such a value: it need not be read once more to say so, which took 7 % of the time of a flood of accused JSON events. */
export const nothingNamed: Noted = { names: { has: () => true }, values: {}, isNothing: true }

type Notes = {
  /** Begins with the next event. */
  readonly begin: () => void
  readonly note: (name: string, value: unknown) => void
  readonly result: () => Noted
}

/** Said twice, the first counts: what is behind may be what somebody sent. */
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
