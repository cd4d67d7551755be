// Reduces a page to the ids and versions of its objects, small enough to pass between threads.
import { createHash } from 'node:crypto'
import { isObject, type AnyObject } from '../base/json-object.js'
import { readBytes } from './feed-file.js'
import { listOf, objectsOf, readJson } from './json-text.js'

export type Outline = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly message: string }

/** Blocks while it reads and parses. */
export const outlinePage = (file: string): Outline => {
  const read = readBytes(file)
  if (!read.ok) return read
  const json = readJson(read.bytes)
  return json.ok ? { ok: true, value: outlineOf(json.value) } : { ok: false, message: json.problem.message }
}

export const digestOf = (text: string): string => createHash('sha256').update(text).digest('base64').slice(0, 16)

/** Lists are members of the page, or one level deeper. */
const outlineOf = (value: unknown, depth = 0): unknown => {
  if (Array.isArray(value)) return objectsOf(listOf(value)).map(shorten)
  if (!isObject(value) || depth === 2) return isObject(value) ? {} : value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, outlineOf(member, depth + 1)]))
}

/** Keeps the id and version, and for a MISP attribute a digest of its content. */
const shorten = (object: AnyObject): AnyObject => {
  const { id, modified, uuid, timestamp } = object
  return typeof uuid === 'string'
    ? { uuid, timestamp: scalar(timestamp), digest: digestOf(JSON.stringify(object)) }
    : { id: scalar(id), modified: scalar(modified) }
}

const scalar = (value: unknown): string | number | undefined =>
  typeof value === 'string' || typeof value === 'number' ? value : undefined
