// What the paths of JSON objects mean to their reader: worked out the first time a path is seen, found again by its key or its key's bytes.
import { ownText } from '../../domain/own-text.js'
import type { Role } from '../../domain/sighting.js'
import { actionRank } from './action-fields.js'
import type { FieldRule, Reads, Rule } from './field-rule.js'
import { partOf, type Part } from './labelled.js'

export type Place = {
  readonly path: string
  readonly name: string
  readonly rule: Rule
  readonly reads: Reads
  readonly role: Role
  readonly actionRank: number
  readonly part: Part
  /** What holds neither a dot nor a colon says nothing there. */
  readonly isDotted: boolean
  readonly children: Map<string, Place>
  /** The key, character by character. */
  readonly codes: readonly number[]
  /** A parser of JSON does not leave it where it stood: `{"b":1,"0":2}` begins with `0`. */
  readonly isMoved: boolean
  /** At the top of an event a reader would take it for our annotation. */
  readonly isOurs: boolean
  /** The children once more, by the hash of their codes. */
  readonly hashed: Map<number, Place>
  /** What came first in the last object here, and what came next after this place: events of a kind have their keys in order. */
  firstGuess: Place | undefined
  nextGuess: Place | undefined
  /** The last object that had this key. */
  seenIn: number
}

export type Places = {
  readonly root: Place
  /** Another event begins. */
  readonly begin: () => void
  readonly find: (parent: Place, key: string) => Place
}

const maxPlaces = 20_000
const maxKeyLength = 200
/** Past this many new keys in one event the rest are told by well-known names alone, so that a megabyte of keys costs little. */
const maxNewInEvent = 1024

/** Keys come from events, so their number is bounded: past it a path is worked out each time. */
export const createPlaces = (ruleOf: FieldRule, isOurs: (name: string) => boolean = () => false): Places => {
  let count = 0
  let newInEvent = 0
  const place = (path: string, key: string, rule: Rule, isKept: boolean): Place => {
    const name = key.slice(key.lastIndexOf('.') + 1)
    return {
      path,
      name,
      rule,
      reads: rule.reads,
      role: rule.role,
      actionRank: actionRank(path),
      part: partOf(key),
      isDotted: rule.reads === 'text' || rule.reads === 'host' || rule.reads === 'address',
      children: new Map(),
      codes: isKept && key.length < maxKeyLength ? Array.from(key, (_, at) => key.charCodeAt(at)) : [],
      isOurs: isOurs(path),
      isMoved: /^\d+$/.test(key) || key === '__proto__',
      hashed: new Map(),
      firstGuess: undefined,
      nextGuess: undefined,
      seenIn: 0,
    }
  }
  return {
    root: place('', '', { reads: 'text', role: 'other' }, true),
    begin: () => {
      newInEvent = 0
    },
    find: (parent, key) => {
      const known = parent.children.get(key)
      if (known) return known
      const own = ownText(key)
      const path = parent.path === '' ? own : `${parent.path}.${own}`
      const isHurried = ++newInEvent > maxNewInEvent
      const made = place(path, own, ruleOf(path, isHurried), !isHurried)
      if (count < maxPlaces && key.length < maxKeyLength && !isHurried) {
        count++
        parent.children.set(own, made)
      }
      return made
    },
  }
}

const quote = 0x22
const backslash = 0x5c

/** The end of the key that begins there, if it is the key of this place and nothing more; 0 if not. */
export const endOfKey = (bytes: Buffer, from: number, { codes }: Place): number => {
  const { length } = codes
  const end = from + length
  if (end >= bytes.length || bytes[end] !== quote) return 0
  for (let at = 0; at < length; at++) if (bytes[from + at] !== codes[at]) return 0
  return end
}

/**
 * The place of the key that begins there, made where it is new. Nothing where the bytes do not tell it by themselves: keys with
 * escapes or beyond ASCII, keys whose hash another has, and keys that are not remembered.
 */
export const placeOfKey = (places: Places, parent: Place, bytes: Buffer, from: number): Place | undefined => {
  let hash = 0
  let end = from
  for (; end < bytes.length; end++) {
    const code = bytes[end] ?? 0
    if (code === quote) break
    if (code < 0x20 || code >= 0x7f || code === backslash) return undefined
    hash = (Math.imul(hash, 31) + code) | 0
  }
  if (end - from >= maxKeyLength) return undefined
  const hashed = parent.hashed.get(hash)
  if (hashed !== undefined) return endOfKey(bytes, from, hashed) === end ? hashed : undefined
  const key = bytes.toString('latin1', from, end)
  const place = places.find(parent, key)
  if (parent.children.get(key) !== place) return undefined
  parent.hashed.set(hash, place)
  return place
}
