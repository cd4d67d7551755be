// What the paths of JSON objects mean to their reader: worked out the first time a path is seen, then found again by its key.
import { ownText } from '../../domain/own-text.js'
import type { Field, FieldOf } from './field.js'
import { isPort } from './reader.js'

export type Path = Field & {
  /** Dotted, from the top of the event. */
  readonly path: string
  /** The key as JSON spells it. */
  readonly quoted: string
  readonly name: string
  readonly isPort: boolean
  /** What holds neither a dot nor a colon says nothing there. */
  readonly isDotted: boolean
  readonly children: Map<string, Path>
  /** At the top of an event a reader would take it for our annotation. */
  readonly isAnnotationName: boolean
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
/** Past this many new keys in one event the rest are known by well-known names alone, so that a megabyte of keys costs little. */
const maxNewInEvent = 1024

const pathOf = (path: string, key: string, { holds, role, says, rule }: Field, isAnnotationName: boolean): Path => ({
  holds,
  role,
  says,
  rule,
  path,
  quoted: JSON.stringify(key),
  name: key.slice(key.lastIndexOf('.') + 1),
  isPort: isPort(says),
  isDotted: holds === 'text' || holds === 'host' || holds === 'address',
  children: new Map(),
  isAnnotationName,
  firstGuess: undefined,
  nextGuess: undefined,
})

/** Where nothing is read. */
export const unread = pathOf('', '', { holds: 'none', role: 'other', says: undefined, rule: 'field' }, false)

/** Keys come from events, so their number is bounded: past it a path is worked out each time. */
export const createPaths = (fieldOf: FieldOf, isAnnotationName: (name: string) => boolean = () => false): Paths => {
  let count = 0
  let newInEvent = 0
  return {
    root: pathOf('', '', { holds: 'text', role: 'other', says: undefined, rule: 'field' }, false),
    begin: () => {
      newInEvent = 0
    },
    find: (parent, key) => {
      const known = parent.children.get(key)
      if (known) return known
      const own = ownText(key)
      const path = parent.path === '' ? own : `${parent.path}.${own}`
      const isHurried = ++newInEvent > maxNewInEvent
      const made = pathOf(path, own, fieldOf(path, isHurried), isAnnotationName(path))
      if (!isHurried && count < maxPaths && key.length < maxKeyLength) {
        count++
        parent.children.set(own, made)
      }
      return made
    },
  }
}
