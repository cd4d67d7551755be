// The suppression windows of one partition: the groups with an alert, and the suppressed matches, counted once their write is committed.
import { createHash } from 'node:crypto'
import type { AnnotationSummary } from '../domain/annotation.js'
import type { Rule } from './sigma/rule.js'
import type { SharedWindows } from './shared-windows.js'
import type { WhoActed } from './who-acted.js'
import { dueAt, heldTogether, isOver, maxNames, peerDueIn, shownBy, type Held, type Window } from './window.js'

type Matched = {
  readonly rule: Rule
  readonly value: string
  readonly peer: string
  /** Epoch milliseconds of the event. */
  readonly time: number
  readonly origin: string
  /** The values of the fields that the rule groups by; absent: indicator and peer form the group. */
  readonly group?: string | undefined
  readonly about: AnnotationSummary
}

export type Decision = {
  /** The id of the alert; no other event raises one with the same id. */
  readonly id: () => string
  readonly groupId: () => string
  /** The number of matches the alert stands for; 0 suppresses it. */
  readonly count: number
  /** Absent if every match raises an alert. */
  readonly window: Window | undefined
  /** Other peers that matched the same rule and indicator since the last alert for this peer, latest last. */
  readonly peers: readonly string[]
  /** This machine has not matched the rule and indicator before. */
  readonly isNewPeer: boolean
}

/** The event, time and actors of a suppressed match. */
type HeldMatch = {
  readonly origin: string
  readonly time: number
  readonly peer: string | undefined
  /** Called only if the match counts. */
  readonly who: () => WhoActed
}

/** The matches of a window that one write suppresses. */
type Delta = {
  count: number
  readonly first: Held['first']
  last: Held['last']
  readonly users: Set<string>
  readonly sources: Set<string>
  readonly peers: Set<string>
  peerDueAt: number
}

/** The changes of one write. Later writes see the windows that it opens, and nothing else of it. */
export type WindowsDraft = {
  readonly decide: (match: Matched) => Decision
  /** The alert of another indicator lists this one, so its suppressed matches are reported under that alert's group. */
  readonly listIn: (groupId: string, decision: Decision) => void
  readonly hold: (decision: Decision, match: HeldMatch) => void
  /** Takes the suppressed matches that this write reports: of up to `max` due windows, or of all. */
  readonly tell: (max: number, all?: boolean) => readonly { readonly window: Window; readonly held: Held }[]
  /** Windows as they are after the commit: those that it opens, and those with its matches that another uncommitted write opens. */
  readonly opened: () => readonly Window[]
  /** The other windows whose matches it counts, with those matches. */
  readonly counted: () => readonly { readonly window: Window; readonly more: Held }[]
  /** Every window that the write changes. */
  readonly changed: () => readonly Window[]
  readonly commit: () => void
  /** The write will not happen, or its outcome is unknown and another process owns the partition. */
  readonly giveUp: () => void
}

export type Windows = {
  /** `isLate`: about events that were delivered before. */
  readonly begin: (isLate?: boolean) => WindowsDraft
  /** Whether suppressed matches are due to be reported. */
  readonly isDue: () => boolean
  /** Removes windows that expect no further match, and returns them. */
  readonly forget: () => readonly Window[]
  /** `isChanged`: the window has changed since its record was written. */
  readonly restore: (windows: readonly { readonly window: Window; readonly isChanged: boolean }[]) => void
  /** Up to `max` windows that have changed since their records were written, each returned once. */
  readonly takeChanged: (max: number) => readonly Window[]
  /** The records of these windows were not written. */
  readonly putBack: (windows: readonly Window[]) => void
  /** Whether there is a window of this group and time. */
  readonly has: (window: Window) => boolean
  /** Earlier offsets are no longer valid. */
  readonly beginAnew: () => void
  /** The number of windows with unreported matches. */
  readonly untold: () => number
  readonly size: () => number
  readonly close: () => void
}

/** The windows of one group, latest first. */
type Group = { windows: Window[]; untold: number }

type WindowsOptions = {
  readonly defaultMs: number
  /** Whether suppressed matches are reported by updates instead of the next alert. */
  readonly hasUpdates: boolean
  readonly shared: SharedWindows
  readonly now: () => number
}

/** The limit per group, because a partition may be read from days ago. */
const maxPerGroup = 64
/** A longer text is replaced by its hash. */
const maxGroup = 256

export const createWindows = ({ defaultMs, hasUpdates, shared, now }: WindowsOptions): Windows => {
  /** Groups with the oldest match come first. */
  const groups = new Map<string, Group>()
  /** Windows opened by uncommitted writes. */
  const opening = new Set<Window>()
  /** Windows closed for lack of room whose matches are not reported yet. */
  const leaving = new Set<Window>()
  const changed = new Set<Window>()
  /** The time of the latest event that matched. */
  let latest = -Infinity
  let isClosed = false

  const drop = (group: Group, window: Window): void => {
    group.windows = group.windows.filter((one) => one !== window)
    if (group.windows.length === 0) groups.delete(window.group)
    changed.delete(window)
    shared.giveBack(1)
    shared.remove(window)
  }

  /** One iterator for all evictions: a new one would step over every group that was deleted before. */
  let oldest = groups.values()
  const makeRoom = (): void => {
    let next = oldest.next()
    if (next.done) next = (oldest = groups.values()).next()
    const [window] = next.value?.windows.filter((one) => !opening.has(one)).slice(-1) ?? []
    if (!window || !next.value) return
    drop(next.value, window)
    if (hasUpdates) leaving.add(window)
  }

  const open = (window: Window): void => {
    if (isClosed) return
    const group = groups.get(window.group) ?? { windows: [], untold: 0 }
    groups.delete(window.group)
    groups.set(window.group, group)
    group.windows = [...group.windows, window].sort((one, other) => other.number - one.number)
    const isFull = shared.take()
    const last = group.windows.length > maxPerGroup ? group.windows.at(-1) : undefined
    if (last) {
      drop(group, last)
      if (hasUpdates) leaving.add(last)
    } else if (isFull) makeRoom()
  }

  const all = (): readonly Window[] => [...[...groups.values()].flatMap(({ windows }) => windows), ...leaving]

  const has = (window: Window): boolean => groups.get(window.group)?.windows.some((one) => isSame(one, window)) === true

  const begin = (isLate = false): WindowsDraft => {
    const opened = new Set<Window>()
    const deltas = new Map<Window, Delta>()
    const told = new Map<Window, Held>()
    const newPeers: (readonly [about: string, peer: string])[] = []

    /** The write that opens the window may fail, or come after this one, so there is no record to add matches to. */
    const isUnwritten = (window: Window): boolean => opening.has(window)

    const asCommitted = (window: Window): Window => {
      const more = deltas.get(window)
      const upTo = more && !isLate ? Math.max(window.upTo, offsetOf(more.last.origin)) : window.upTo
      return { ...window, upTo, held: more ? heldTogether(window.held, more) : window.held }
    }

    const decide: WindowsDraft['decide'] = ({ rule, value, peer, time, origin, group: own, about }) => {
      const windowMs = rule.suppress?.windowMs ?? defaultMs
      const ofRule = `${rule.id}\0${value}`
      const id = (): string => hash(`${ofRule}\0${peer}\0${origin}`)
      if (windowMs === 0) return { id, groupId: id, count: 1, window: undefined, peers: none, isNewPeer: true }
      const whole = own === undefined ? `${ofRule}\0${peer}` : `${rule.id}\0by\0${own}`
      const text = whole.length > maxGroup ? hash(whole) : whole
      const number = Math.floor(time / windowMs)
      const group = groups.get(text)
      const last = Math.min(number, group?.windows[0]?.number ?? number)
      const isNewPeer = peer !== '' && shared.matched(ofRule)?.has(peer) !== true
      if (isNewPeer) newPeers.push([ofRule, peer])
      const matched = shared.noteMatch(ofRule, peer, number)
      let window = group?.windows.find((one) => one.number === number && one.windowMs === windowMs)
      let count = 0
      if (window) {
        groups.delete(text)
        groups.set(text, group as Group)
        // If the chunk is repeated, the event that raised the alert must raise it again.
        if (window.origin === origin) count = 1
        else if (!hasUpdates) (group as Group).untold++
      } else {
        const elsewhere = hasUpdates ? shared.find(text, windowMs, number) : undefined
        if (!elsewhere) count = hasUpdates ? 1 : 1 + (group?.untold ?? 0)
        if (group && count > 0) group.untold = 0
        window = {
          group: text,
          windowMs,
          number,
          groupId: elsewhere?.groupId ?? hash(`${text}\0${windowMs}\0${number}`),
          rule,
          value,
          peer,
          origin: elsewhere?.origin ?? origin,
          shown: elsewhere?.shown ?? (hasUpdates ? shownBy(about) : about),
          upTo: isLate || elsewhere ? -1 : offsetOf(origin),
          matchedAt: now(),
        }
        opened.add(window)
        opening.add(window)
        open(window)
      }
      if (time > latest) latest = time
      const peers =
        count === 0 || matched.size === 1
          ? none
          : [...matched].filter(([one, at]) => one !== peer && one !== '' && at >= last).map(([one]) => one)
      const { groupId } = window
      return { id, groupId: () => groupId, count, window, peers, isNewPeer }
    }

    const hold: WindowsDraft['hold'] = ({ window, isNewPeer }, { origin, time, peer, who }) => {
      if (!window || !hasUpdates) return
      // The match was counted at an earlier delivery.
      if (!isLate && !opened.has(window) && offsetOf(origin) <= window.upTo) return
      const place = { origin, time }
      let delta = deltas.get(window)
      if (delta) delta.last = place
      else {
        delta = { count: 0, first: place, last: place, peerDueAt: Infinity, ...noNames() }
        deltas.set(window, delta)
      }
      delta.count++
      if (isNewPeer) delta.peerDueAt = Math.min(delta.peerDueAt, now() + peerDueIn)
      const { users, sources } = who()
      for (const user of users) addTo(delta.users, user)
      for (const source of sources) addTo(delta.sources, source)
      if (peer !== undefined) addTo(delta.peers, peer)
    }

    return {
      decide,
      hold,
      listIn: (groupId, { window }) => {
        if (window && opened.has(window)) window.groupId = groupId
      },
      tell: (max, isAll = false) => {
        const at = now()
        for (const window of all()) {
          if (told.size >= max) break
          if (!window.held || !(isAll || leaving.has(window) || dueAt(window) <= at)) continue
          told.set(window, window.held)
          window.held = undefined
        }
        return [...told].map(([window, held]) => ({ window, held }))
      },
      opened: () => [...new Set([...opened, ...[...deltas.keys()].filter(isUnwritten)])].map(asCommitted),
      counted: () => [...deltas].flatMap(([window, more]) => (isUnwritten(window) ? [] : [{ window, more }])),
      changed: () => [...new Set([...opened, ...deltas.keys(), ...told.keys()])].map(asCommitted),
      commit: () => {
        for (const window of opened) {
          opening.delete(window)
          if (hasUpdates && !isClosed) shared.add(window)
        }
        for (const [window, more] of deltas) {
          window.held = heldTogether(window.held, more)
          if (!isLate) window.upTo = Math.max(window.upTo, offsetOf(more.last.origin))
          window.matchedAt = now()
          changed.add(window)
          if (groups.get(window.group)?.windows.includes(window) !== true) leaving.add(window)
        }
        told.clear()
      },
      giveUp: () => {
        for (const window of opened) {
          opening.delete(window)
          const group = groups.get(window.group)
          if (group && !window.held) drop(group, window)
        }
        for (const [about, peer] of newPeers) shared.forgetMatch(about, peer)
        for (const [window, held] of told) window.held = window.held ? heldTogether(held, window.held) : held
        opened.clear()
        deltas.clear()
        told.clear()
      },
    }
  }

  return {
    begin,
    isDue: () => {
      const at = now()
      for (const { windows } of groups.values())
        for (const window of windows) if (window.held && dueAt(window) <= at) return true
      return [...leaving].some(({ held }) => held)
    },
    forget: () => {
      const at = now()
      const over = [...groups.values()].flatMap(({ windows }) =>
        windows.filter((window) => !window.held && !opening.has(window) && isOver(window, at, latest)),
      )
      for (const window of over) {
        const group = groups.get(window.group)
        if (group) drop(group, window)
      }
      const left = [...leaving].filter(({ held }) => !held)
      for (const window of left) leaving.delete(window)
      return [...over, ...left]
    },
    restore: (windows) => {
      for (const { window, isChanged } of windows) {
        if (has(window)) continue
        open(window)
        if (isChanged) changed.add(window)
        if (!isClosed) shared.add(window)
        const { rule, value, peer, number, held } = window
        for (const one of [peer, ...(held?.peers ?? [])]) shared.noteMatch(`${rule.id}\0${value}`, one, number)
        latest = Math.max(latest, held?.last.time ?? -Infinity)
      }
    },
    takeChanged: (max) => {
      const some: Window[] = []
      for (const window of changed) {
        if (some.length >= max) break
        changed.delete(window)
        if (has(window)) some.push(window)
      }
      return some
    },
    putBack: (windows) => {
      for (const window of windows) changed.add(window)
    },
    has,
    beginAnew: () => {
      for (const window of all()) {
        window.upTo = -1
        changed.add(window)
      }
    },
    untold: () => all().filter(({ held }) => held).length,
    size: () => groups.size,
    close: () => {
      isClosed = true
      for (const window of [...groups.values()].flatMap(({ windows }) => windows)) shared.remove(window)
      shared.giveBack([...groups.values()].reduce((sum, { windows }) => sum + windows.length, 0))
      groups.clear()
      leaving.clear()
      changed.clear()
    },
  }
}

const isSame = (one: Window, other: Window): boolean => one.number === other.number && one.windowMs === other.windowMs

/** An origin is `topic/partition/offset`, with `#member` in a batch. */
const offsetOf = (origin: string): number => Number.parseInt(origin.slice(origin.lastIndexOf('/') + 1), 10)

const noNames = (): Pick<Delta, 'users' | 'sources' | 'peers'> => ({
  users: new Set(),
  sources: new Set(),
  peers: new Set(),
})

const addTo = (names: Set<string>, name: string): void => {
  if (names.size < maxNames) names.add(name)
}

const none: readonly string[] = []

const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32)
