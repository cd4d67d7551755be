// The name that was probably meant by one that does not exist.

/** The most similar of the names: one typing error, two in a long one, or the case; not where only dots and dashes differ. */
export const closestName = (wrong: string, names: readonly string[]): string | undefined => {
  const typed = wrong.toLowerCase()
  const most = typed.length < 6 ? 1 : 2
  const close = names
    .map((name) => ({ name, errors: distance(name.toLowerCase(), typed, most + 1) }))
    .filter(({ errors }) => errors <= most)
    .toSorted((a, b) => a.errors - b.errors)
  const [best] = close
  const isOnlyWritten = best?.errors !== 0 && close.some(({ name }) => letters(name) === letters(typed))
  return isOnlyWritten ? undefined : best?.name
}

const letters = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '')

const distance = (a: string, b: string, enough: number): number => {
  if (Math.abs(a.length - b.length) >= enough) return enough
  let row = Array.from({ length: b.length + 1 }, (_, place) => place)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++)
      next[j] = Math.min(
        (row[j] ?? 0) + 1,
        (next[j - 1] ?? 0) + 1,
        (row[j - 1] ?? 0) + (a.charAt(i - 1) === b.charAt(j - 1) ? 0 : 1),
      )
    row = next
  }
  return row[b.length] ?? enough
}
