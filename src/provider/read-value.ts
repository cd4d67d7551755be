// Reads single values from untrusted answers: a number or its text, a flag.
import { replaceControls } from '../domain/control-characters.js'
import { isObject, type AnyObject } from '../base/json-object.js'
import { ownText } from '../base/bounded-cache.js'

/** Own members only, so that a name such as `constructor` finds nothing. */
const member = (value: unknown, name: string): unknown =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined

const nothing = new Set(['', 'n/a', 'unknown', 'null', 'none', '-'])

/** One line of bounded text; undefined for words that mean "no value". */
export const textOf = (value: unknown, maxLength = 128): string | undefined => {
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : undefined
  if (typeof value !== 'string') return undefined
  const text = replaceControls(value.slice(0, maxLength * 2), () => ' ')
  const trimmed = text.trim().slice(0, maxLength)
  return nothing.has(trimmed.toLowerCase()) ? undefined : ownText(trimmed)
}

export const numberOf = (value: unknown): number | undefined => {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  if (typeof value !== 'string' || value.length > 32) return undefined
  const text = value.trim()
  return /^[+-]?\d+(\.\d+)?$/.test(text) ? Number(text) : undefined
}

/** A count: a non-negative integer. */
export const wholeNumber = (value: unknown): number | undefined => {
  const number = numberOf(value)
  return number === undefined || number < 0 ? undefined : Math.min(Math.floor(number), Number.MAX_SAFE_INTEGER)
}

export const flagOf = (value: unknown): boolean | undefined => {
  if (typeof value === 'boolean') return value
  if (value === 1 || value === 0) return value === 1
  if (typeof value !== 'string' || value.length > 8) return undefined
  const text = value.trim().toLowerCase()
  return text === 'true' ? true : text === 'false' ? false : undefined
}

/** `{ count, data: [...] }`, sometimes a plain list, sometimes absent; `count` is the true total. */
export const collectionOf = (
  value: unknown,
): { readonly count: number | undefined; readonly rows: readonly AnyObject[] } => {
  const list = Array.isArray(value) ? (value as unknown[]) : member(value, 'data')
  const rows = Array.isArray(list) ? (list as unknown[]).filter(isObject) : []
  const stated = wholeNumber(member(value, 'count'))
  const isGiven = Array.isArray(list) || stated !== undefined
  return { count: isGiven ? Math.max(stated ?? 0, rows.length) : undefined, rows }
}
