// Recognises names that look like our annotation.

export type AnnotationKey = {
  readonly isAnnotationName: (name: string) => boolean
  /** Whether the quoted name at this place is one. */
  readonly isAnnotationNameAt: (bytes: Buffer, from: number, to: number) => boolean
  /** Whether the bytes may contain such a name anywhere, in any meaning. */
  readonly mayHold: (bytes: Buffer) => boolean
}

// Some readers ignore case (Go's decoder, several table stores), including Unicode case folding.
const fold = (name: string): string => name.toUpperCase().toLowerCase()

const dot = '.'.charCodeAt(0)

/** The key in any case, and dotted names below it, which Elasticsearch reads as the object. */
export const isNamedLike = (key: string, name: string): boolean => {
  const { length } = key
  if (name.length < length) return false
  if (name.length > length && name.charCodeAt(length) !== dot) return false
  // ASCII letters fold only to themselves.
  const initial = name.charCodeAt(0)
  const firstLetter = key.charCodeAt(0)
  if (initial < 128 && firstLetter < 128 && (initial | 0x20) !== (firstLetter | 0x20)) return false
  return fold(name.slice(0, length)) === fold(key)
}

export const createAnnotationKey = (key: string): AnnotationKey => {
  const firstLetter = key.charCodeAt(0)
  const folded = fold(key)
  const mayBegin = (byte: number): boolean =>
    byte >= 128 || byte === 0x5c || firstLetter >= 128 || (byte | 0x20) === (firstLetter | 0x20)
  return {
    isAnnotationName: (name) => isNamedLike(key, name),
    isAnnotationNameAt: (bytes, from, to) =>
      mayBegin(bytes[from + 1] ?? 0) && isNamedLike(key, JSON.parse(bytes.toString('utf8', from, to)) as string),
    mayHold: (bytes) => fold(bytes.toString()).includes(folded),
  }
}
