// JSON of a whole file: its value, or in which line it breaks; and access to members that trusts nothing.
import type { ParseProblem } from './feed.js'

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
  } catch (error) {
    const message = error instanceof Error ? error.message : 'unreadable'
    const offset = offsetIn(message, text)
    const problem = { message: 'is not valid JSON' }
    return { ok: false, problem: offset === undefined ? problem : { ...problem, place: lineAt(text, offset) } }
  }
}

/** The engine names the position or quotes the text around it, ten characters to either side. */
const offsetIn = (message: string, text: string): number | undefined => {
  const position = /at position (\d+)/.exec(message)?.[1]
  if (position !== undefined) return Number(position)
  if (message.includes('end of JSON')) return text.length
  const quoted = /(\.\.\.)?"([^]*)"(?:\.\.\.)? is not valid JSON$/.exec(message)
  const at = quoted ? text.indexOf(quoted[2] ?? '') : -1
  return at < 0 ? undefined : at + (quoted?.[1] === undefined ? 0 : 10)
}
