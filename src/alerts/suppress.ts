// Suppresses repeated alerts: one per rule, indicator, peer and window of event time.
import { createBoundedCache } from '../base/bounded-cache.js'
import { createHash } from 'node:crypto'

type Suppressed = {
  readonly ruleId: string
  readonly value: string
  readonly peer: string
  /** Epoch milliseconds of the event. */
  readonly time: number
  readonly origin: string
  /** What makes a group by the rule's own words; absent: indicator and peer do. */
  readonly group?: string | undefined
  /** The rule's own window. */
  readonly windowMs?: number | undefined
  /** The event was delivered before: its alert may come to nothing, and then nobody delivers it again. */
  readonly isLate?: boolean | undefined
}

type Suppression = {
  /** Of the alert: no other event raises one with the same. */
  readonly id: () => string
  /** The same for all alerts of a window: another process or one after a restart raises its own. */
  readonly groupId: () => string
  /** It is listed in the alert of another indicator: what is suppressed for it is told under that alert's group. */
  readonly listIn: (groupId: string) => void
  /** The number of matches the alert stands for; 0 suppresses it. */
  readonly count: number
  /** Epoch milliseconds of event time at which the window ends. */
  readonly endsAt: number
  /** Other peers that matched the same rule and indicator since the last alert about this one, the latest last. */
  readonly peers: readonly string[]
  /** No match of the rule about the indicator was of this machine before. */
  readonly isNewPeer: boolean
  /** The late alert was written: no event raises another in its window. Until then it stands only for events that are late, too. */
  readonly written: () => void
  /** It was not: another match of its window may be it. */
  readonly release: () => void
}

export type Suppress = {
  readonly decide: (about: Suppressed) => Suppression
  readonly size: () => number
}

/** `isUnwritten`: its alert is late, and not written yet. `groupId`: of the alert that lists it. */
type Window = {
  readonly number: number
  readonly origin: string
  readonly isUnwritten: boolean
  groupId?: string | undefined
}
/** The windows that were alerted on, and the matches suppressed since. */
type SuppressionEntry = { windows: readonly Window[]; held: number }

/** Partitions are read side by side, and one may be hours of event time ahead of another. */
const maxWindows = 64

/** Keeps at least this many entries, and at most twice as many. */
const generation = 50_000

/** Remembered per rule and indicator: the latest. */
const maxPeers = 64

const none: readonly string[] = []

/** Windows are aligned to the clock, so that an event has the same window after a restart. */
export const createSuppress = (
  defaultMs: number,
  /** Whether what was suppressed is said by updates, not by the next alert. */
  hasUpdates = false,
): Suppress => {
  /** Dropping an entry may raise another alert of a window. */
  const entries = createBoundedCache<string, SuppressionEntry>(generation)

  /** Per rule and indicator: peers, and the window in which each matched last. */
  const groups = createBoundedCache<string, Map<string, number>>(generation, (peers) => peers.size)

  const note = (group: string, peer: string, number: number): ReadonlyMap<string, number> => {
    const peers = groups.get(group) ?? new Map<string, number>()
    if (peers.size === 0) groups.set(group, peers)
    const latest = Math.max(number, peers.get(peer) ?? number)
    if (!peers.delete(peer)) groups.addWeight(1)
    peers.set(peer, latest)
    const [oldest] = peers.keys()
    if (peers.size > maxPeers && oldest !== undefined) peers.delete(oldest)
    return peers
  }

  const count = (key: string, window: Window): number => {
    const entry = entries.get(key)
    if (!entry) {
      entries.set(key, { windows: [window], held: 0 })
      return 1
    }
    const known = entry.windows.find(({ number }) => number === window.number)
    if (known && (!known.isUnwritten || window.isUnwritten)) {
      // If the chunk is repeated, the event that raised the alert must raise it again.
      if (known.origin === window.origin) return 1
      entry.held++
      return 0
    }
    const total = hasUpdates ? 1 : 1 + entry.held
    entry.held = 0
    entry.windows = [...entry.windows.filter((one) => one !== known), window]
      .toSorted((one, other) => other.number - one.number)
      .slice(0, maxWindows)
    return total
  }

  return {
    decide: ({ ruleId, value, peer, time, origin, group: own, windowMs = defaultMs, isLate = false }) => {
      const group = `${ruleId}\0${value}`
      const about = own === undefined ? `${group}\0${peer}` : `${ruleId}\0by\0${own}`
      const alone = `${group}\0${peer}\0${origin}`
      const id = (): string => hash(alone)
      if (windowMs === 0)
        return {
          id,
          groupId: id,
          listIn: () => undefined,
          count: 1,
          endsAt: time,
          peers: none,
          isNewPeer: true,
          written: () => undefined,
          release: () => undefined,
        }
      const number = Math.floor(time / windowMs)
      const key = `${about}\0${windowMs}\0${number}`
      const windowOf = (): Window | undefined => entries.get(about)?.windows.find((one) => one.number === number)
      const last = Math.min(number, entries.get(about)?.windows[0]?.number ?? number)
      const isNewPeer = peer !== '' && groups.get(group)?.has(peer) !== true
      const matched = note(group, peer, number)
      const total = count(about, { number, origin, isUnwritten: isLate })
      const peers =
        total === 0 || matched.size === 1
          ? none
          : [...matched].filter(([one, at]) => one !== peer && one !== '' && at >= last).map(([one]) => one)
      const settle = (isWritten: boolean): void => {
        const entry = entries.get(about)
        if (!entry) return
        const isOwn = (one: Window): boolean =>
          one.isUnwritten === isLate && one.number === number && one.origin === origin
        entry.windows = isWritten
          ? entry.windows.map((one) => (isOwn(one) ? { ...one, isUnwritten: false } : one))
          : entry.windows.filter((one) => !isOwn(one))
      }
      return {
        id,
        groupId: () => (total === 0 ? windowOf()?.groupId : undefined) ?? hash(key),
        listIn: (groupId) => {
          const window = windowOf()
          if (window) window.groupId = groupId
        },
        count: total,
        endsAt: (number + 1) * windowMs,
        peers,
        isNewPeer,
        written: () => settle(true),
        release: () => settle(false),
      }
    },
    size: entries.size,
  }
}

const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32)
