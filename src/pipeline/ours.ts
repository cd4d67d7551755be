// Tells which members of an event a reader would take for our annotation, whoever wrote them.

export type Ours = {
  readonly isOurs: (name: string) => boolean
  readonly holdsOurs: (value: Readonly<Record<string, unknown>>) => boolean
}

// Some readers match names regardless of case (Go's decoder, several table stores), among them by Unicode's folding.
const fold = (name: string): string => name.toUpperCase().toLowerCase()

/** Our key in any case, and everything below it in dotted spelling, which Elasticsearch reads as the object. */
export const createOurs = (key: string): Ours => {
  const { length } = key
  const folded = fold(key)
  const dot = '.'.charCodeAt(0)
  const isOurs = (name: string): boolean => {
    if (name.length < length) return false
    if (name.length > length && name.charCodeAt(length) !== dot) return false
    return fold(name.slice(0, length)) === folded
  }
  // By the parsed names: escapes are undone there and duplicates count once, so that nearly all events need no second look.
  const holdsOurs = (value: Readonly<Record<string, unknown>>): boolean => {
    for (const name in value) if (name.length >= length && isOurs(name)) return true
    return false
  }
  return { isOurs, holdsOurs }
}
