// What the paths of JSON objects mean to their reader: worked out the first time a path is seen, found again by its key or its key's bytes.
import { ownText } from '../../domain/own-text.js'
import { table } from './characters.js'
import type { Field, FieldOf } from './field.js'
import { endOfString } from './json-grammar.js'
import { isPort } from './reader.js'

/** What a member is to its object in a list (`[{"name":"clientIp","value":"192.0.2.1"}]`): the name of the thing, a kind that may stand for it, or the thing. */
export type Part = 'label' | 'kind' | 'given' | undefined
const parts = table<Part>(
  ['label', 'name key @name field label fieldname parameter'],
  ['kind', 'type'],
  ['given', 'value #text stringvalue val _value fieldvalue'],
)

export type Path = Field & {
  /** Dotted, from the top of the event. */
  readonly path: string
  readonly name: string
  readonly part: Part
  readonly isPort: boolean
  /** What holds neither a dot nor a colon says nothing there. */
  readonly isDotted: boolean
  readonly children: Map<string, Path>
  /** The key, character by character; empty where it is not remembered. */
  readonly codes: readonly number[]
  /** At the top of an event a reader would take it for our annotation. */
  readonly isOurs: boolean
  /** The children once more, by the hash of their codes. */
  readonly hashed: Map<number, Path>
  /** What came first in the last object here, and what came next after this path: events of a kind have their keys in order. */
  firstGuess: Path | undefined
  nextGuess: Path | undefined
}

export type Paths = {
  readonly root: Path
  /** Another event begins. */
  readonly begin: () => void
  readonly find: (parent: Path, key: string) => Path
}

const maxPaths = 20_000
const maxKeyLength = 200
/** Past this many new keys in one event the rest are told by well-known names alone, so that a megabyte of keys costs little. */
const maxNewInEvent = 1024

/** Keys come from events, so their number is bounded: past it a path is worked out each time. */
export const createPaths = (fieldOf: FieldOf, isOurs: (name: string) => boolean = () => false): Paths => {
  let count = 0
  let newInEvent = 0
  const pathOf = (path: string, key: string, field: Field, isKept: boolean): Path => ({
    // One by one: objects that are made alike are read fast.
    holds: field.holds,
    role: field.role,
    says: field.says,
    rule: field.rule,
    path,
    name: key.slice(key.lastIndexOf('.') + 1),
    part: key.length > 12 ? undefined : parts.get(key.toLowerCase()),
    isPort: isPort(field.says),
    isDotted: field.holds === 'text' || field.holds === 'host' || field.holds === 'address',
    children: new Map(),
    codes: isKept && key.length < maxKeyLength ? Array.from(key, (_, at) => key.charCodeAt(at)) : [],
    isOurs: isOurs(path),
    hashed: new Map(),
    firstGuess: undefined,
    nextGuess: undefined,
  })
  return {
    root: pathOf('', '', { holds: 'text', role: 'other', says: undefined, rule: 'field' }, true),
    begin: () => {
      newInEvent = 0
    },
    find: (parent, key) => {
      const known = parent.children.get(key)
      if (known) return known
      const own = ownText(key)
      const path = parent.path === '' ? own : `${parent.path}.${own}`
      const isHurried = ++newInEvent > maxNewInEvent
      const isKept = !isHurried && count < maxPaths && key.length < maxKeyLength
      const made = pathOf(path, own, fieldOf(path, isHurried), isKept)
      if (isKept) {
        count++
        parent.children.set(own, made)
      }
      return made
    },
  }
}

/** The end of the key that begins there, if it is the key of this path and nothing more; 0 if not. */
export const endOfKey = (bytes: Buffer, from: number, { codes }: Path): number => {
  const { length } = codes
  const end = from + length
  if (length === 0 || end >= bytes.length || bytes[end] !== 0x22) return 0
  for (let at = 0; at < length; at++) if (bytes[from + at] !== codes[at]) return 0
  return end
}

/** Where the key that was read last ended: its closing quotation mark. */
export type Cursor = { end: number; isAscii: boolean }

/** The path of the key that begins there, made where it is new; nothing where it is no string. Keys with escapes or beyond ASCII are told by the parser. */
export const pathOfKey = (
  paths: Paths,
  parent: Path,
  bytes: Buffer,
  from: number,
  cursor: Cursor,
): Path | undefined => {
  let hash = 0
  let end = from
  for (; end < bytes.length; end++) {
    const code = bytes[end] ?? 0
    if (code === 0x22) break
    if (code < 0x20 || code >= 0x7f || code === 0x5c) return pathOfRareKey(paths, parent, bytes, from, cursor)
    hash = (Math.imul(hash, 31) + code) | 0
  }
  cursor.end = end
  const hashed = parent.hashed.get(hash)
  if (hashed !== undefined && endOfKey(bytes, from, hashed) === end) return hashed
  const found = paths.find(parent, bytes.toString('latin1', from, end))
  if (found.codes.length > 0) parent.hashed.set(hash, found)
  return found
}

const pathOfRareKey = (paths: Paths, parent: Path, bytes: Buffer, from: number, cursor: Cursor): Path | undefined => {
  const end = endOfString(bytes, from)
  if (end < 0) return undefined
  cursor.end = end
  cursor.isAscii = false
  return paths.find(parent, JSON.parse(bytes.toString('utf8', from - 1, end + 1)) as string)
}

const label = /^@?[A-Za-z][\w :()-]{1,47}$/
const longestLabel = 48

/** The path of what is given under the name that begins there, as if it were a member of that name; nothing where it is no name. */
export const pathOfLabel = (paths: Paths, parent: Path, bytes: Buffer, from: number): Path | undefined => {
  const end = bytes.indexOf(0x22, from)
  const name = end - from > longestLabel ? '' : bytes.toString('latin1', from, end)
  return parent.children.get(name) ?? (label.test(name) ? paths.find(parent, name) : undefined)
}
