// What the paths of JSON objects mean to their reader: worked out the first time a path is seen, then found again by its key's bytes.
import { hashOf, isSpelt } from '../json-grammar.js'
import type { Field, FieldOf } from './field.js'
import { isPort } from './reader.js'

export type Path = Field & {
  /** Dotted, from the top of the event. */
  readonly path: string
  /** The bytes of the key, with its quotation marks, as latin1. */
  readonly spelling: string
  readonly name: string
  readonly isPort: boolean
  /** What holds neither a dot nor a colon says nothing there. */
  readonly isDotted: boolean
  /** By the hash of their spelling. */
  readonly children: Map<number, Path>
  /** Its name looks like our annotation. */
  readonly isAnnotationName: boolean
  /** What came first in the last object here, and what came next after this path: events of a kind have their keys in order. */
  firstGuess: Path | undefined
  nextGuess: Path | undefined
}

export type Paths = {
  readonly root: Path
  /** Another event begins. */
  readonly begin: () => void
  /** The path of the key that is there; one that is not read can only be our annotation's. */
  readonly find: (parent: Path, bytes: Buffer, from: number, to: number, isUnread?: boolean) => Path
}

const maxPaths = 20_000
const maxKeyLength = 200
/** Past this many new keys in one event the rest are known by well-known names alone, so that a megabyte of keys costs little. */
const maxNewInEvent = 1024

const nothing: Field = { holds: 'none', role: 'other', says: undefined, flow: undefined, rule: 'field' }

const pathOf = (
  path: string,
  key: string,
  spelling: string,
  { holds, role, says, flow, rule }: Field,
  isAnnotationName: boolean,
): Path => ({
  holds,
  role,
  says,
  flow,
  rule,
  path,
  spelling,
  name: key.slice(key.lastIndexOf('.') + 1),
  isPort: isPort(says),
  isDotted: holds === 'text' || holds === 'host' || holds === 'address',
  children: new Map(),
  isAnnotationName,
  firstGuess: undefined,
  nextGuess: undefined,
})

/** Where nothing is read. */
export const unread = pathOf('', '', '', nothing, false)
const unreadAnnotation = pathOf('', '', '', nothing, true)

/** Keys come from events, so their number is bounded: past it a path is worked out each time. */
export const createPaths = (fieldOf: FieldOf, isAnnotationName: (name: string) => boolean = () => false): Paths => {
  let count = 0
  let newInEvent = 0
  return {
    root: pathOf('', '', '', { holds: 'text', role: 'other', says: undefined, flow: undefined, rule: 'field' }, false),
    begin: () => {
      newInEvent = 0
    },
    find: (parent, bytes, from, to, isUnread = false) => {
      if (isUnread) return isAnnotationName(nameAt(bytes, from, to)) ? unreadAnnotation : unread
      const hash = hashOf(bytes, from, to)
      const known = parent.children.get(hash)
      if (known && isSpelt(known.spelling, bytes, from, to)) return known
      const key = nameAt(bytes, from, to)
      const path = parent.path === '' ? key : `${parent.path}.${key}`
      const isHurried = ++newInEvent > maxNewInEvent
      const spelling = bytes.toString('latin1', from, to)
      const made = pathOf(path, key, spelling, fieldOf(path, isHurried), isAnnotationName(key))
      if (!isHurried && count < maxPaths && key.length < maxKeyLength) {
        if (!known) count++
        parent.children.set(hash, made)
      }
      return made
    },
  }
}

const nameAt = (bytes: Buffer, from: number, to: number): string =>
  JSON.parse(bytes.toString('utf8', from, to)) as string
