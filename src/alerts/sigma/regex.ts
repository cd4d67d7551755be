// Compiles the regular expressions of rules with RE2, which runs in linear time.
import { RE2JS } from 're2js'
import type { TextTest } from './pattern.js'

export type RegexFlags = { readonly i: boolean; readonly m: boolean; readonly s: boolean }

/** A test that finds the expression anywhere in a text, or an error. */
export const createRegexTest = (source: string, flags: RegexFlags): TextTest | { readonly wrong: string } => {
  try {
    const bits = (flags.i ? RE2JS.CASE_INSENSITIVE : 0) | (flags.m ? RE2JS.MULTILINE : 0) | (flags.s ? RE2JS.DOTALL : 0)
    const expression = RE2JS.compile(withVerticalTab(source), bits)
    return (text) => expression.test(text)
  } catch (error) {
    return { wrong: error instanceof Error ? error.message : 'it cannot be read' }
  }
}

/** Quoted text, an escape, a POSIX class, the beginning of a class with or without `]` as its first character, or the end of a class. */
const piecePattern = /\\Q[^]*?(?:\\E|$)|\\[^]|\[:\^?\w+:\]|\[\^?\]?|\]/g

/** Sigma uses Python's expressions, whose `\s` includes the vertical tab; in RE2 only the POSIX class does. */
const withVerticalTab = (source: string): string => {
  let isInClass = false
  return source.replace(piecePattern, (piece) => {
    if (piece === '\\s' || piece === '\\S') {
      const space = piece === '\\s' ? '[:space:]' : '[:^space:]'
      return isInClass ? space : `[${space}]`
    }
    if (isInClass) isInClass = !(piece === ']' || piece === '[]' || piece === '[^]')
    else isInClass = piece.startsWith('[')
    return piece
  })
}
