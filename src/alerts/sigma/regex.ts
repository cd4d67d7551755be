// Regular expressions of rules, in RE2 with linear time.
import { RE2JS } from 're2js'
import type { TextTest } from './pattern.js'

export type RegexFlags = { readonly i: boolean; readonly m: boolean; readonly s: boolean }

/** A test that finds the expression anywhere in a text, or an error. */
export const createRegexTest = (source: string, flags: RegexFlags): TextTest | { readonly wrong: string } => {
  try {
    const bits = (flags.i ? RE2JS.CASE_INSENSITIVE : 0) | (flags.m ? RE2JS.MULTILINE : 0) | (flags.s ? RE2JS.DOTALL : 0)
    const expression = RE2JS.compile(source, bits)
    return (text) => expression.test(text)
  } catch (error) {
    return { wrong: error instanceof Error ? error.message : 'it cannot be read' }
  }
}
