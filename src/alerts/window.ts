// A window: the group of one alert, and what was suppressed for it since. Plain data, so that it can be written and read again.
import type { AnnotationSummary } from '../domain/annotation.js'
import type { Rule } from './sigma/rule.js'

/** What an update says of its rule, which may be gone by then. */
type WindowRule = Pick<Rule, 'id' | 'title' | 'level' | 'tags' | 'description'>

/** What an update says of the indicator. */
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

/** A copy: the texts of an event are parts of a whole fetch. */
export const shownBy = (about: AnnotationSummary): Shown =>
  JSON.parse(JSON.stringify(Object.fromEntries(shownMembers.map((name) => [name, about[name]])))) as Shown

type Place = { readonly origin: string; readonly time: number }

/** Matches that were suppressed and are not told yet. Names are at most `maxNames` each. */
export type Held = {
  count: number
  readonly first: Place
  last: Place
  readonly users: ReadonlySet<string>
  readonly sources: ReadonlySet<string>
  readonly peers: ReadonlySet<string>
  /** By the clock: when a machine that is new is told of at the latest. */
  peerDueAt: number
}

export type Window = {
  /** Of rule, indicator and peer, or of the rule's own words. */
  readonly group: string
  readonly windowMs: number
  readonly number: number
  /** Of the alert: all that is told of the window has it. Another one's, if that alert lists the indicator. */
  groupId: string
  readonly rule: WindowRule
  readonly value: string
  readonly peer: string
  /** The event that raised the alert. */
  readonly origin: string
  readonly shown: Shown
  /** The last offset whose matches are counted; -1: none. */
  upTo: number
  held?: Held | undefined
  /** By the clock, the last match. */
  matchedAt: number
}

/** Distinct names that are counted per group. */
export const maxNames = 256

/** Both together, or a copy of the later; of names only as many as are counted. */
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

/** A partition that is behind may be in the middle of a window that is over by the clock. */
const quietMs = 30_000
const hourMs = 3_600_000
const dayMs = 86_400_000

const endsAt = ({ number, windowMs }: Window): number => (number + 1) * windowMs

/** By the clock: when what is suppressed is told. */
export const dueAt = (window: Window): number =>
  Math.min(
    Math.max(endsAt(window), window.matchedAt + Math.min(quietMs, window.windowMs)),
    window.held?.peerDueAt ?? Infinity,
  )

/** A machine that is new does not wait for the end of a longer window. */
export const peerDueIn = hourMs

/** Whether no match of it is to be expected: the clock and the events have passed its end, and it was quiet for an hour; answers may be late. */
export const isOver = (window: Window, now: number, latest: number): boolean => {
  const quiet = now - window.matchedAt
  return now >= endsAt(window) && quiet >= hourMs && (latest >= endsAt(window) || quiet >= dayMs)
}
