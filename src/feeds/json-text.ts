// Parses the JSON of a whole file, reports the line of a syntax error, and reads members without trusting their types.
import { isObject, type AnyObject } from '../base/json-object.js'
import type { ParseProblem, Sink } from './feed.js'

/** Reads all entries of one kind of JSON. */
export type JsonParser = (value: unknown, sink: Sink) => void

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
export const objectsOf = (value: unknown): readonly AnyObject[] => listOf(value).filter(isObject)
export const stringOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
export const stringsOf = (value: unknown): readonly string[] =>
  listOf(value).filter((item): item is string => typeof item === 'string')

export const lineAt = (text: string, offset: number): number => {
  let line = 1
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) line++
  return line
}

type JsonText = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: ParseProblem }

export const readJson = (bytes: Buffer): JsonText => {
  let text = ''
  try {
    text = bytes.toString('utf8')
    const value: unknown = JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text)
    return { ok: true, value }
  } catch {
    // Only two things fail: invalid JSON, and text too large for one string, which leaves `text` empty.
    const line = text === '' ? 1 : lineAt(text, findBreak(text.replace(/^\ufeff/, ' ')))
    return { ok: false, problem: { place: line, message: 'is not valid JSON' } }
  }
}

/** The position of a syntax error is searched for, because the engine does not always report it. */
const literal = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])|(?:true|false|null)(?!\w)/y

/** What may come next: a value; a value or the end of an empty list; a key; a key or the end; a colon; a comma or the end. */
type Next = 'value' | 'first value' | 'key' | 'first key' | 'colon' | 'after'

/** The offset of the first character that JSON does not allow; the length of the text if only the end is missing. */
const findBreak = (text: string): number => {
  const around: ('{' | '[')[] = []
  let next = 'value' as Next
  let at = 0
  while (at < text.length) {
    const sign = text.charAt(at)
    if (sign === ' ' || sign === '\n' || sign === '\r' || sign === '\t') {
      at++
      continue
    }
    const inside = around.at(-1)
    if (next === 'colon') {
      if (sign !== ':') return at
      next = 'value'
      at++
    } else if (next === 'after') {
      if (sign === ',' && inside) next = inside === '{' ? 'key' : 'value'
      else if (inside && sign === closing[inside]) around.pop()
      else return at
      at++
    } else if ((next === 'first key' || next === 'first value') && inside && sign === closing[inside]) {
      around.pop()
      next = 'after'
      at++
    } else if (sign === '"') {
      const end = endOfString(text, at)
      if (end < 0) return -end - 1
      next = next === 'key' || next === 'first key' ? 'colon' : 'after'
      at = end
    } else if (next === 'key' || next === 'first key') return at
    else if (sign === '{' || sign === '[') {
      around.push(sign)
      next = sign === '{' ? 'first key' : 'first value'
      at++
    } else {
      literal.lastIndex = at
      if (!literal.test(text)) return at
      next = 'after'
      at = literal.lastIndex
    }
  }
  return text.length
}

const closing = { '{': '}', '[': ']' } as const

/** The offset after the closing quote; or -offset - 1 of a character that a string may not contain. */
const endOfString = (text: string, start: number): number => {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 34) return at + 1
    if (code < 32) return -at - 1
    if (code === 92 && !/^(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/.test(text.slice(++at, at + 5))) return -at - 1
  }
  return -text.length - 1
}
