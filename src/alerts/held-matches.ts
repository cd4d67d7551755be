// Matches that were suppressed, gathered until their window closes: how many, and by whom.
import { createBoundedCache } from '../base/bounded-cache.js'
import type { AnnotationSummary } from '../domain/annotation.js'
import type { Rule } from './sigma/rule.js'

/** One suppressed match. */
type HeldMatch = {
  readonly groupId: string
  /** The rule with its indicator. */
  readonly firing: string
  readonly rule: Rule
  readonly origin: string
  /** Epoch milliseconds of the event. */
  readonly time: number
  readonly about: AnnotationSummary
  readonly peer: string | undefined
  /** Nobody was told of this machine yet. */
  readonly isNewPeer: boolean
  readonly users: readonly string[]
  readonly sources: readonly string[]
  /** Epoch milliseconds of event time at which its window ends. */
  readonly endsAt: number
}

/** The suppressed matches of one group. Names are at most `maxNames`. */
export type HeldGroup = Pick<HeldMatch, 'groupId' | 'rule'> & {
  readonly first: { readonly origin: string; readonly time: number }
  last: { readonly origin: string; readonly time: number }
  /** Of the first match. */
  readonly about: AnnotationSummary
  count: number
  readonly users: Set<string>
  readonly sources: Set<string>
  readonly peers: Set<string>
  /** By the clock: when it is closed, if nothing more is held. */
  dueAt: number
  /** By the clock: when a machine that is new is told of at the latest. */
  peerDueAt: number
  /** Whether the alert that they were suppressed for is committed. It is not where its event was given up: they are the alert then. */
  isAlerted: boolean
}

/** A match that raised the alert of its group. */
type Raised = {
  readonly groupId: string
  readonly firing: string
  readonly origin: string
  /** Another match of its window may raise the alert. */
  readonly release: () => void
}

export type HeldMatches = {
  /** Notes an alert that is not committed yet. */
  readonly raised: (match: Raised) => void
  /** Notes a match that is not committed yet; a repeat of its chunk notes it again. */
  readonly hold: (match: HeldMatch) => void
  /** The alert of the group may not be there, and will not be written: what was or is still suppressed for it is due at once. */
  readonly notWritten: (match: Omit<Raised, 'release'>) => void
  /** The chunk with these events is committed. */
  readonly commit: (origin: string, firings: readonly string[]) => void
  /**
   * It was given up: alerts that it raised are not there. If its records are deleted by now, nobody raises them again, and what was suppressed for
   * them is the alert; that waits only as long as reading them again may take.
   */
  readonly giveUp: (origin: string, firings: readonly string[]) => void
  /** Groups whose window is closed; with `all`, every one. They are forgotten. */
  readonly takeDue: (all?: boolean) => readonly HeldGroup[]
}

/** Distinct names that are counted per group. */
const maxNames = 256
/** Groups beyond that are closed early, the oldest first. */
const maxGroups = 20_000
/** Matches whose chunk was given up and that nobody delivers again here. */
const maxOpen = 50_000
/** A partition that is behind may be in the middle of a window that is over by the clock. */
const quietMs = 30_000
/** A machine that is new does not wait for the end of a longer window. */
const newPeerMs = 3_600_000
/** Groups whose alert is committed or was not written: at least so many are remembered, as many as alerts are suppressed for. */
const knownGroups = 50_000

export const createHeldMatches = (now: () => number): HeldMatches => {
  const open = new Map<string, HeldMatch | Raised>()
  const isAlerted = createBoundedCache<string, boolean>(knownGroups)
  /** Groups whose alert was given up and not raised again since. */
  const givenUpAt = createBoundedCache<string, number>(knownGroups)
  const groups = new Map<string, HeldGroup>()

  const add = (match: HeldMatch): void => {
    const { groupId, rule, origin, time, peer, isNewPeer, users, sources, endsAt } = match
    const last = { origin, time }
    const closesAt = Math.max(endsAt, now() + Math.min(quietMs, rule.suppress?.windowMs ?? quietMs))
    const known = groups.get(groupId)
    const group = known ?? begun(match)
    if (!known) groups.set(groupId, group)
    group.count++
    group.last = last
    if (isNewPeer) group.peerDueAt = Math.min(group.peerDueAt, now() + newPeerMs)
    group.dueAt = isAlerted.get(groupId) === false ? now() : Math.min(closesAt, group.peerDueAt)
    for (const user of users) addTo(group.users, user)
    for (const source of sources) addTo(group.sources, source)
    if (peer !== undefined) addTo(group.peers, peer)
  }

  const note = (key: string, match: HeldMatch | Raised): void => {
    open.delete(key)
    open.set(key, match)
    const [oldest] = open.keys()
    if (open.size > maxOpen && oldest !== undefined) open.delete(oldest)
  }

  return {
    raised: (match) => {
      // What is suppressed from now on waits for this one.
      if (isAlerted.get(match.groupId) === false) isAlerted.delete(match.groupId)
      givenUpAt.delete(match.groupId)
      note(keyOf(match.origin, match.firing), match)
    },
    hold: (match) => {
      const key = keyOf(match.origin, match.firing)
      const before = open.get(key)
      const wasNewPeer = before !== undefined && 'rule' in before && before.isNewPeer
      note(key, wasNewPeer ? { ...match, isNewPeer: true } : match)
    },
    notWritten: ({ groupId, origin, firing }) => {
      open.delete(keyOf(origin, firing))
      if (isAlerted.get(groupId)) return
      isAlerted.set(groupId, false)
      const group = groups.get(groupId)
      if (group) group.dueAt = now()
    },
    commit: (origin, firings) => {
      for (const id of firings) {
        const match = open.get(keyOf(origin, id))
        if (!match) continue
        open.delete(keyOf(origin, id))
        if ('rule' in match) add(match)
        else {
          isAlerted.set(match.groupId, true)
          givenUpAt.delete(match.groupId)
        }
      }
    },
    giveUp: (origin, firings) => {
      for (const id of firings) {
        const match = open.get(keyOf(origin, id))
        open.delete(keyOf(origin, id))
        if (!match || 'rule' in match) continue
        match.release()
        if (!isAlerted.get(match.groupId)) givenUpAt.set(match.groupId, now())
      }
    },
    takeDue: (all = false) => {
      const at = now()
      let tooMany = groups.size - maxGroups
      const isDue = ({ groupId, dueAt }: HeldGroup): boolean =>
        dueAt <= at || (givenUpAt.get(groupId) ?? Infinity) + quietMs <= at
      const due = [...groups.values()].filter((group) => all || isDue(group) || tooMany-- > 0)
      for (const group of due) {
        groups.delete(group.groupId)
        group.isAlerted = isAlerted.get(group.groupId) === true
        // What is held from now on follows this one.
        isAlerted.set(group.groupId, true)
        givenUpAt.delete(group.groupId)
      }
      return due
    },
  }
}

const begun = ({ groupId, rule, origin, time, about }: HeldMatch): HeldGroup => ({
  groupId,
  rule,
  first: { origin, time },
  last: { origin, time },
  // A copy: the texts of an event are parts of a whole fetch.
  about: JSON.parse(JSON.stringify(about)) as AnnotationSummary,
  count: 0,
  users: new Set(),
  sources: new Set(),
  peers: new Set(),
  dueAt: 0,
  peerDueAt: Infinity,
  isAlerted: false,
})

const addTo = (names: Set<string>, name: string): void => {
  if (names.size < maxNames) names.add(name)
}

const keyOf = (origin: string, firing: string): string => `${origin}\0${firing}`
