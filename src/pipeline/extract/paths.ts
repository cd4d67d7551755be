// The meaning of each path in JSON objects, worked out once and then found by the bytes of its key.
import { hashOf, isSpelt } from '../json-grammar.js'
import type { AnnotationKey } from '../annotate/annotation-key.js'
import type { Field, FieldOf } from './field.js'
import { isPort } from './reader.js'

export type Path = Field & {
  /** Dotted, from the top of the event. */
  readonly path: string
  /** The bytes of the key, with its quotation marks, as latin1. */
  readonly spelling: string
  readonly name: string
  readonly isPort: boolean
  /** A value here matters only if it contains a dot or a colon. */
  readonly isDotted: boolean
  /** By the hash of their spelling. */
  readonly children: Map<number, Path>
  /** The name looks like our annotation. */
  readonly isAnnotationName: boolean
  /** In `{"name":"srcIp","value":"192.0.2.1"}`: which of the two members this is. */
  readonly pair: 'name' | 'value' | undefined
  /** Its text may name an attribute, as in OpenTelemetry. */
  readonly isKey: boolean
  /** Nothing here or below is read, but forged annotations are counted. */
  readonly isUnread: boolean
  /** The first key of the last object here, and the key that followed this one: events of a kind keep the order of their keys. */
  firstGuess: Path | undefined
  nextGuess: Path | undefined
}

export type Paths = {
  readonly root: Path
  /** Starts the next event. */
  readonly begin: () => void
  /** The path of the key at this place. An unread key matters only if it is our annotation's. */
  readonly find: (parent: Path, bytes: Buffer, from: number, to: number, isUnread?: boolean) => Path
  /** Whether the quoted string at this place looks like our annotation. */
  readonly isAnnotationNameAt: (bytes: Buffer, from: number, to: number) => boolean
}

const maxPaths = 20_000
const maxKeyLength = 200
/** After this many new keys in one event, only well-known names are recognised, so that a megabyte of keys costs little. */
const maxNewInEvent = 1024

const nothing: Field = {
  holds: 'none',
  role: 'other',
  says: undefined,
  flow: undefined,
  activity: undefined,
  rule: 'field',
}

const pathOf = (
  path: string,
  key: string,
  spelling: string,
  { holds, role, says, flow, activity, rule }: Field,
  isAnnotationName: boolean,
  isUnread = false,
): Path => ({
  holds,
  role,
  says,
  flow,
  activity,
  rule,
  path,
  spelling,
  name: key.slice(key.lastIndexOf('.') + 1),
  isPort: isPort(says),
  isDotted: holds === 'text' || holds === 'host' || holds === 'address' || holds === 'forwarded' || holds === 'written',
  children: new Map(),
  isAnnotationName,
  pair: /^(?:name|key|field)$/i.test(key) ? 'name' : /^value$/i.test(key) ? 'value' : undefined,
  isKey: key === 'key',
  isUnread,
  firstGuess: undefined,
  nextGuess: undefined,
})

/** The path of everything that is not read. */
export const unread = pathOf('', '', '', nothing, false, true)
const unreadAnnotation = pathOf('', '', '', nothing, true, true)
const unreadKey = pathOf('', 'key', '', nothing, false, true)

/** Keys come from events, so their number is bounded; beyond the limit a path is worked out each time. */
export const createPaths = (
  fieldOf: FieldOf,
  { isAnnotationName, isAnnotationNameAt }: Omit<AnnotationKey, 'mayHold'> = {
    isAnnotationName: no,
    isAnnotationNameAt: no,
  },
): Paths => {
  let count = 0
  let newInEvent = 0
  return {
    root: pathOf('', '', '', { ...nothing, holds: 'text' }, false),
    begin: () => {
      newInEvent = 0
    },
    find: (parent, bytes, from, to, isUnread = false) => {
      if (isUnread)
        return isAnnotationNameAt(bytes, from, to) ? unreadAnnotation : isKeyAt(bytes, from, to) ? unreadKey : unread
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
    isAnnotationNameAt,
  }
}

const no = (): boolean => false

/** With every letter escaped, the key has 20 bytes. */
const isKeyAt = (bytes: Buffer, from: number, to: number): boolean =>
  to - from <= 20 && (bytes[from + 1] === 0x6b || bytes[from + 1] === 0x5c) && nameAt(bytes, from, to) === 'key'

const nameAt = (bytes: Buffer, from: number, to: number): string =>
  JSON.parse(bytes.toString('utf8', from, to)) as string
