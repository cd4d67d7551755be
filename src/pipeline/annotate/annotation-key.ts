// The annotation key: tells which members of an event a reader would take for our annotation, whoever wrote them.

export type AnnotationKey = {
  readonly isOurs: (name: string) => boolean
  readonly holdsOurs: (names: readonly string[]) => boolean
}

// Some readers match names regardless of case (Go's decoder, several table stores), among them by Unicode's folding.
const fold = (name: string): string => name.toUpperCase().toLowerCase()

/** Our key in any case, and everything below it in dotted spelling, which Elasticsearch reads as the object. */
export const createAnnotationKey = (key: string): AnnotationKey => {
  const { length } = key
  const folded = fold(key)
  const dot = '.'.charCodeAt(0)
  const firstLetter = key.charCodeAt(0)
  const isOurs = (name: string): boolean => {
    if (name.length < length) return false
    if (name.length > length && name.charCodeAt(length) !== dot) return false
    // Only what is beyond ASCII may fold to another letter than its own.
    const initial = name.charCodeAt(0)
    if (initial < 128 && firstLetter < 128 && (initial | 0x20) !== (firstLetter | 0x20)) return false
    return fold(name.slice(0, length)) === folded
  }
  // By the names as they are read: escapes are undone there, so that nearly all events need no second look.
  const holdsOurs = (names: readonly string[]): boolean => {
    for (const name of names) if (name.length >= length && isOurs(name)) return true
    return false
  }
  return { isOurs, holdsOurs }
}
