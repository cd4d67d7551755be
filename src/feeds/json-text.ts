// JSON of a whole file: its value, or in which line it breaks; and access to members that trusts nothing.
import type { ParseProblem } from './feed.js'
import { findBreak } from './json-break.js'

export type JsonObject = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
export const objectsOf = (value: unknown): readonly JsonObject[] => listOf(value).filter(isObject)
export const stringOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
export const stringsOf = (value: unknown): readonly string[] =>
  listOf(value).filter((item): item is string => typeof item === 'string')

export const lineAt = (text: string, offset: number): number => {
  let line = 1
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) line++
  return line
}

export type JsonText =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: ParseProblem }

export const readJson = (bytes: Buffer): JsonText => {
  let text = ''
  try {
    text = bytes.toString('utf8')
    const value: unknown = JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text)
    return { ok: true, value }
  } catch {
    // The only failures are text that is no JSON and text too large for one string, which `text` then is not.
    const line = text === '' ? 1 : lineAt(text, findBreak(text.replace(/^\ufeff/, ' ')))
    return { ok: false, problem: { place: line, message: 'is not valid JSON' } }
  }
}
