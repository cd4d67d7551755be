// An immutable set of names, each with or without the names below it.

export type NameEntry = { readonly name: string; readonly below: boolean }

export type NameSet = {
  readonly size: number
  /** `name` is in its normal form. */
  readonly has: (name: string) => boolean
}

export const createNameSet = (entries: readonly NameEntry[]): NameSet => {
  const alone = new Set(entries.filter(({ below }) => !below).map(({ name }) => name))
  const below = new Set(entries.filter((entry) => entry.below).map(({ name }) => name))
  const isBelow = (name: string): boolean => {
    for (let start = 0; ;) {
      if (below.has(start === 0 ? name : name.slice(start))) return true
      const dot = name.indexOf('.', start)
      if (dot < 0) return false
      start = dot + 1
    }
  }
  return {
    size: alone.size + below.size,
    has: (name) => (alone.size > 0 && alone.has(name)) || (below.size > 0 && isBelow(name)),
  }
}
