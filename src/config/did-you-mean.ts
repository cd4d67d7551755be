// Suggests the intended name for a mistyped command, option, setting or variable.
import { editsBetween } from '../base/edits-between.js'

/** `; did you mean …?`, or an empty text if no name is close enough. */
export const didYouMean = (name: string, names: Iterable<string>): string => {
  const all = [...names]
  const near = nearest(name, all) ?? mostShared(name, all)
  return near === undefined ? '' : `; did you mean ${near}?`
}

/** Accepts names within an edit distance of a third of the length, and at least one. */
const nearest = (name: string, names: readonly string[]): string | undefined => {
  let best: string | undefined
  let least = Math.max(1, Math.floor(Math.min(name.length, 64) / 3)) + 1
  for (const other of names) {
    const distance = Math.abs(other.length - name.length) < least ? editsBetween(name, other) : least
    if (distance < least) [best, least] = [other, distance]
  }
  return best
}

/** The name with the most words in common, at least two. */
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
