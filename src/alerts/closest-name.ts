// The name that was probably meant by one that does not exist.

/** The most similar of the names, without regard to case; undefined if none is within two typing errors. */
export const closestName = (wrong: string, names: readonly string[]): string | undefined => {
  const typed = wrong.toLowerCase()
  const distances = names.map((name) => ({ name, errors: distance(name.toLowerCase(), typed, 3) }))
  return distances.filter(({ errors }) => errors < 3).toSorted((a, b) => a.errors - b.errors)[0]?.name
}

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
