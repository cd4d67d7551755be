// Suggests the existing name that was probably meant by an unknown one.
import { editsBetween } from '../base/edits-between.js'

/** The most similar name: one typing error, two in a long name, or a different case. Undefined if only dots and dashes differ. */
export const closestName = (wrong: string, names: readonly string[]): string | undefined => {
  const typed = wrong.toLowerCase()
  const most = typed.length < 6 ? 1 : 2
  const close = names
    .map((name) => ({ name, errors: editsBetween(name, typed) }))
    .filter(({ errors }) => errors <= most)
    .toSorted((a, b) => a.errors - b.errors)
  const [best] = close
  const isOnlyWritten = best?.errors !== 0 && close.some(({ name }) => letters(name) === letters(typed))
  return isOnlyWritten ? undefined : best?.name
}

const letters = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '')
