// Recognises members of an event that look like our annotation.

export type AnnotationKey = { readonly isAnnotationName: (name: string) => boolean }

// Some readers ignore case (Go's decoder, several table stores), including Unicode case folding.
const fold = (name: string): string => name.toUpperCase().toLowerCase()

/** Our key in any case, and dotted names below it, which Elasticsearch reads as the object. */
export const createAnnotationKey = (key: string): AnnotationKey => {
  const { length } = key
  const folded = fold(key)
  const dot = '.'.charCodeAt(0)
  const firstLetter = key.charCodeAt(0)
  const isAnnotationName = (name: string): boolean => {
    if (name.length < length) return false
    if (name.length > length && name.charCodeAt(length) !== dot) return false
    // ASCII letters fold only to themselves.
    const initial = name.charCodeAt(0)
    if (initial < 128 && firstLetter < 128 && (initial | 0x20) !== (firstLetter | 0x20)) return false
    return fold(name.slice(0, length)) === folded
  }
  return { isAnnotationName }
}
