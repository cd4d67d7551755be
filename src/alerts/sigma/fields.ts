// The fields used by a rule set: each has a slot and is read from an event at most once.
import type { Annotation } from '../../domain/annotation.js'
import { annotationKey, eventMembers, type Members } from '../annotation-fields.js'
import { createReadEvent, namesOf, type RuleEvent } from '../event-field.js'
import { createRead, leavesOf } from './field.js'
import type { EventView } from './expression.js'

export type Subject = {
  readonly event: RuleEvent
  readonly annotation: Readonly<Annotation>
}

export type Fields = {
  readonly members: Members
  readonly slotOf: (path: string) => number
  /** The annotation member of a path; undefined if the path is in the event. */
  readonly memberOf: (path: string) => string | undefined
  readonly view: (subject: Subject) => EventView
  /** Views of one event with several annotations. Values outside the annotation are read once, and only they require parsing the event. */
  readonly views: (event: () => RuleEvent) => (annotation: Readonly<Annotation>) => EventView
  /** All names that text may use for the fields of events. */
  readonly names: () => ReadonlySet<string>
}

const unread = Symbol('unread')

/** Rules may use `key` or `threatweave` for the annotation; the event's own members of these names are never read. */
export const createFields = (key: string, members: Members = eventMembers): Fields => {
  const slots = new Map<string, number>()
  const reads: ((event: () => RuleEvent, annotation: Readonly<Annotation>) => unknown)[] = []
  /** Indexed by slot. */
  const inAnnotation: boolean[] = []

  const memberOf = (path: string): string | undefined => {
    for (const prefix of [annotationKey, key]) {
      if (path === prefix) return ''
      if (path.startsWith(`${prefix}.`)) return path.slice(prefix.length + 1)
    }
    return undefined
  }

  const views: Fields['views'] = (event) => {
    let first: unknown[] | undefined
    let leaves: string[] | undefined
    return (annotation) => {
      const own = new Array<unknown>(reads.length).fill(unread)
      const shared = (first ??= own)
      return {
        read: (slot) => {
          const values = inAnnotation[slot] === true ? own : shared
          const held = values[slot]
          if (held !== unread) return held
          return (values[slot] = reads[slot]?.(event, annotation))
        },
        leaves: () => (leaves ??= leavesOf(event().object)),
      }
    }
  }

  return {
    members,
    memberOf,
    slotOf: (path) => {
      const known = slots.get(path)
      if (known !== undefined) return known
      const member = memberOf(path)
      if (member === undefined) {
        const read = createReadEvent(path)
        reads.push((event, annotation) => read(event(), annotation))
      } else {
        const read = createRead(member)
        reads.push((_, annotation) => read(annotation))
      }
      inAnnotation.push(member !== undefined)
      slots.set(path, reads.length - 1)
      return reads.length - 1
    },
    names: () => new Set([...slots.keys()].filter((path) => memberOf(path) === undefined).flatMap(namesOf)),
    view: ({ event, annotation }) => views(() => event)(annotation),
    views,
  }
}
