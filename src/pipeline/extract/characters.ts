// Character classes by code, and word lists written as one text with blanks, which is easiest to read.

export const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39
export const isLetter = (code: number): boolean => (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a
export const isWord = (code: number): boolean => isDigit(code) || isLetter(code) || code === 0x5f

/** A name without case and separators. */
export const compact = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '')

export const words = (list: string): readonly string[] => list.trim().split(/\s+/)
export const setOf = (list: string): ReadonlySet<string> => new Set(words(list))
/** A table of words: each row is a meaning and the words that have it. */
export const table = <T>(...rows: readonly (readonly [meaning: T, words: string])[]): ReadonlyMap<string, T> =>
  new Map(rows.flatMap(([meaning, list]) => words(list).map((word): [string, T] => [word, meaning])))

export const isAscii = (text: string): boolean => !/[\u0080-\uffff]/.test(text)
