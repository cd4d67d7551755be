// Guesses what was meant by a name that does not exist: a command, an option, a setting, a variable.

/** `; did you mean …?`, or nothing where no name is near. */
export const didYouMean = (name: string, names: Iterable<string>): string => {
  const all = [...names]
  const near = nearest(name, all) ?? mostShared(name, all)
  return near === undefined ? '' : `; did you mean ${near}?`
}

/** A third of the letters may be wrong; of a short name one. */
const nearest = (name: string, names: readonly string[]): string | undefined => {
  let best: string | undefined
  let least = Math.max(1, Math.floor(Math.min(name.length, 64) / 3)) + 1
  for (const other of names) {
    const distance = Math.abs(other.length - name.length) < least ? editsBetween(name, other) : least
    if (distance < least) [best, least] = [other, distance]
  }
  return best
}

/** Letters to add, leave out, change, or swap with their neighbour; case does not count. */
const editsBetween = (one: string, other: string): number => {
  const from = one.toLowerCase()
  const to = other.toLowerCase()
  let before: number[] = []
  let row = Array.from({ length: to.length + 1 }, (_, at) => at)
  for (let i = 1; i <= from.length; i++) {
    const next = [i]
    for (let j = 1; j <= to.length; j++) {
      const isSame = from[i - 1] === to[j - 1]
      const isSwapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]
      next[j] = Math.min(
        (row[j] ?? 0) + 1,
        (next[j - 1] ?? 0) + 1,
        (row[j - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      )
    }
    before = row
    row = next
  }
  return row[to.length] ?? 0
}

/** The name with the most words in common, of which there must be two. */
const mostShared = (name: string, names: readonly string[]): string | undefined => {
  const words = new Set(wordsOf(name))
  let best: string | undefined
  let most = 1
  for (const other of names) {
    const shared = wordsOf(other).filter((word) => words.has(word)).length
    if (shared > most) [best, most] = [other, shared]
  }
  return best
}

const wordsOf = (name: string): string[] => name.split(/[_.-]+/).filter((word) => word !== '')
