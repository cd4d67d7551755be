// The fields used by a rule set: each has a slot and is read from an event at most once.
import type { Annotation } from '../../domain/annotation.js'
import { annotationKey } from '../annotation-fields.js'
import { createRead, leavesOf, type Read } from './field.js'
import type { EventView } from './expression.js'

/** The event's object (or its text as `message`) and its annotation. */
export type Subject = {
  readonly event: Readonly<Record<string, unknown>>
  readonly annotation: Readonly<Annotation>
}

export type Fields = {
  readonly slotOf: (path: string) => number
  /** The annotation member of a path; undefined if the path is in the event. */
  readonly memberOf: (path: string) => string | undefined
  readonly view: (subject: Subject) => EventView
  /** The fields that the rules use, under dotted names; the whole event if a rule searches everywhere. */
  readonly digest: (event: Subject['event']) => Subject['event']
  readonly searchesAnywhere: () => void
}

const unread = Symbol('unread')

/** Rules may use `key` or `threatweave` for the annotation; the event's own members of these names are never read. */
export const createFields = (key: string): Fields => {
  const slots = new Map<string, number>()
  const reads: { readonly of: 'event' | 'annotation'; readonly read: Read }[] = []
  let needsAll = false

  const memberOf = (path: string): string | undefined => {
    for (const prefix of [annotationKey, key]) {
      if (path === prefix) return ''
      if (path.startsWith(`${prefix}.`)) return path.slice(prefix.length + 1)
    }
    return undefined
  }

  return {
    memberOf,
    slotOf: (path) => {
      const known = slots.get(path)
      if (known !== undefined) return known
      const member = memberOf(path)
      reads.push(
        member === undefined ? { of: 'event', read: createRead(path) } : { of: 'annotation', read: createRead(member) },
      )
      slots.set(path, reads.length - 1)
      return reads.length - 1
    },
    view: (subject) => {
      const values: unknown[] = new Array<unknown>(reads.length).fill(unread)
      let leaves: string[] | undefined
      return {
        read: (slot) => {
          const held = values[slot]
          if (held !== unread) return held
          const one = reads[slot]
          return (values[slot] = one?.read(subject[one.of]))
        },
        leaves: () => (leaves ??= leavesOf(subject.event)),
      }
    },
    digest: (event) => {
      if (needsAll) return event
      const digest = Object.create(null) as Record<string, unknown>
      for (const [path, slot] of slots) {
        const one = reads[slot]
        const value = one?.of === 'event' ? one.read(event) : undefined
        if (value !== undefined) digest[path] = value
      }
      return digest
    },
    searchesAnywhere: () => {
      needsAll = true
    },
  }
}
