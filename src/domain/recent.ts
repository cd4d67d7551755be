// A bounded memory of what was worked out lately: when a generation is full, the one before it is forgotten.

export type Recent<Key, Value> = {
  readonly get: (key: Key) => Value | undefined
  readonly set: (key: Key, value: Value) => void
  /** Something was added to a value that is held. */
  readonly grew: (weight?: number) => void
}

/** Holds at least the last values asked for that weigh `generation` together, and never more than twice as many. */
export const createRecent = <Key, Value>(
  generation: number,
  weightOf: (value: Value) => number = () => 1,
): Recent<Key, Value> => {
  let young = new Map<Key, Value>()
  let old = new Map<Key, Value>()
  let weight = 0
  const add = (more: number): void => {
    if (weight >= generation) {
      old = young
      young = new Map()
      weight = 0
    }
    weight += more
  }
  const set = (key: Key, value: Value): void => {
    add(weightOf(value))
    young.set(key, value)
  }
  return {
    get: (key) => {
      const known = young.get(key)
      if (known !== undefined) return known
      const older = old.get(key)
      if (older !== undefined) set(key, older)
      return older
    },
    set,
    grew: (more = 1) => add(more),
  }
}
