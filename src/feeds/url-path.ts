// Normalizes the path and query of a URL, so that feeds and events can be compared character by character.

/** Printable ASCII without `%`, `\` and `#` is already normal, unless it has dot segments. */
const plain = /^[!"$&-[\]-~]*$/

/** Begins with `/` and has no fragment; `/` alone if there is neither path nor query. */
export const normalPath = (text: string): string => {
  const path = /^[/\\]/.test(text) ? text : `/${text}`
  if (plain.test(path) && !path.includes('/.')) return path
  const { pathname, search } = new URL(`http://host${path}`)
  // Letters, digits and -._~ mean the same when percent-encoded.
  return (pathname + search).replace(/%[0-9a-f]{2}/gi, (code) => {
    const char = String.fromCharCode(Number.parseInt(code.slice(1), 16))
    return /[\w.~-]/.test(char) ? char : code.toUpperCase()
  })
}

/**
 * Whether a prefix of this length ends at the end of a segment or parameter: `/a/b` begins `/a/b/c` and `/a/b?c`, but not `/a/bc`. A dot at
 * the very end is taken for the end of a sentence.
 */
export const endsSegment = (path: string, length: number): boolean =>
  length === path.length ||
  !isWordCode(path.charCodeAt(length)) ||
  !isWordCode(path.charCodeAt(length - 1)) ||
  (path.charCodeAt(length) === dot && length === path.length - 1)

const dot = 46

/** Letters, digits and -._~%, which do not end a segment. */
const isWordCode = (code: number): boolean =>
  (code >= 48 && code <= 57) ||
  (code >= 97 && code <= 122) ||
  (code >= 65 && code <= 90) ||
  code === 45 ||
  code === dot ||
  code === 95 ||
  code === 126 ||
  code === 37
