// A window: the group of one alert and the matches suppressed since, as plain data that can be stored and read back.
import type { AnnotationSummary } from '../domain/annotation.js'
import type { Rule } from './sigma/rule.js'

/** The rule's members in an update; the rule itself may be gone by then. */
type WindowRule = Pick<Rule, 'id' | 'title' | 'level' | 'tags' | 'description'>

/** The indicator's members in an update. */
const shownMembers = [
  'status',
  'verdict',
  'score',
  'threat_class',
  'type',
  'value',
  'role',
  'direction',
  'action',
  'source',
  'categories',
  'country',
  'as',
  'feed',
  'entry',
  'summary',
] as const
type Shown = Pick<AnnotationSummary, (typeof shownMembers)[number]>

/** A copy, because the texts of an event are slices of a whole fetch and would keep it in memory. */
export const shownBy = (about: AnnotationSummary): Shown =>
  JSON.parse(JSON.stringify(Object.fromEntries(shownMembers.map((name) => [name, about[name]])))) as Shown

type Place = { readonly origin: string; readonly time: number }

/** Suppressed matches that are not reported yet, with at most `maxNames` names of each kind. */
export type Held = {
  count: number
  readonly first: Place
  last: Place
  readonly users: ReadonlySet<string>
  readonly sources: ReadonlySet<string>
  readonly peers: ReadonlySet<string>
  /** The clock time by which a new machine is reported. */
  peerDueAt: number
}

export type Window = {
  /** Identifies rule, indicator and peer, or the fields that the rule groups by. */
  readonly group: string
  readonly windowMs: number
  readonly number: number
  /** The group of the alert and its updates; another alert's group if that alert lists the indicator. */
  groupId: string
  readonly rule: WindowRule
  readonly value: string
  readonly peer: string
  /** The event that raised the alert. */
  readonly origin: string
  readonly shown: Shown
  /** The last offset whose matches are counted; -1 for none. */
  upTo: number
  held?: Held | undefined
  /** The clock time of the last match. */
  matchedAt: number
}

/** The number of distinct names counted per group. */
export const maxNames = 256

/** Combines both, or copies the later one, with at most `maxNames` names. */
export const heldTogether = (before: Held | undefined, more: Held): Held => ({
  count: (before?.count ?? 0) + more.count,
  first: before?.first ?? more.first,
  last: more.last,
  users: namesOf(before?.users, more.users),
  sources: namesOf(before?.sources, more.sources),
  peers: namesOf(before?.peers, more.peers),
  peerDueAt: Math.min(before?.peerDueAt ?? Infinity, more.peerDueAt),
})

const namesOf = (before: ReadonlySet<string> | undefined, more: ReadonlySet<string>): ReadonlySet<string> => {
  if (!before) return more
  if (before.size >= maxNames || [...more].every((name) => before.has(name))) return before
  return new Set([...before, ...more].slice(0, maxNames))
}

/** A partition with lag may be in the middle of a window that has ended by the clock. */
const quietMs = 30_000
const hourMs = 3_600_000
const dayMs = 86_400_000

const endsAt = ({ number, windowMs }: Window): number => (number + 1) * windowMs

/** The clock time at which suppressed matches are reported. */
export const dueAt = (window: Window): number =>
  Math.min(
    Math.max(endsAt(window), window.matchedAt + Math.min(quietMs, window.windowMs)),
    window.held?.peerDueAt ?? Infinity,
  )

/** A new machine is reported after this time, even in a longer window. */
export const peerDueIn = hourMs

/**
 * Whether no further match is expected: the clock is past the end, and no match came for an hour, because answers may be late. The events
 * must also be past the end, unless no match came for a day.
 */
export const isOver = (window: Window, now: number, latest: number): boolean => {
  const quiet = now - window.matchedAt
  return now >= endsAt(window) && quiet >= hourMs && (latest >= endsAt(window) || quiet >= dayMs)
}
