// A bounded memory of what was worked out lately: when a generation is full, the one before it is forgotten.

export type Recent<Value> = {
  readonly get: (key: string) => Value | undefined
  readonly set: (key: string, value: Value) => void
}

/** Holds at least the last `generation` keys that were asked for, and never more than twice as many. */
export const createRecent = <Value>(generation: number): Recent<Value> => {
  let young = new Map<string, Value>()
  let old = new Map<string, Value>()
  const set = (key: string, value: Value): void => {
    if (young.size >= generation) {
      old = young
      young = new Map()
    }
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
  }
}
