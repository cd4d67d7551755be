// Offsets that are due, taken in ascending order: sorted once for many takes, as there may be hundreds of thousands.

export type DueOffsets = {
  readonly add: (offset: number) => void
  /** Some, at most `max`, without those that are no longer wanted; none only if there are none. */
  readonly take: (max: number, isWanted: (offset: number) => boolean) => readonly number[]
}

export const createDueOffsets = (): DueOffsets => {
  const added = new Set<number>()
  /** Descending. */
  let sorted: number[] = []
  return {
    add: (offset) => void added.add(offset),
    take: (max, isWanted) => {
      const taken: number[] = []
      while (taken.length < max) {
        const next = sorted.pop()
        if (next !== undefined) {
          if (isWanted(next)) taken.push(next)
        } else if (taken.length > 0 || added.size === 0) break
        else {
          sorted = [...added].sort((one, other) => other - one)
          added.clear()
        }
      }
      return taken
    },
  }
}
