// State shared by the windows of all partitions: committed alerts, machines that matched, and the number of windows.
import { createBoundedCache } from '../base/bounded-cache.js'
import type { Window } from './window.js'

export type SharedWindows = {
  /** The window of a committed alert in any partition. */
  readonly find: (group: string, windowMs: number, number: number) => Window | undefined
  readonly add: (window: Window) => void
  readonly remove: (window: Window) => void
  /** Per rule and indicator: the peers, with the number of the window in which each matched last, latest last. */
  readonly matched: (about: string) => ReadonlyMap<string, number> | undefined
  readonly noteMatch: (about: string, peer: string, number: number) => ReadonlyMap<string, number>
  /** The match was not committed. */
  readonly forgetMatch: (about: string, peer: string) => void
  /** Counts a window of any partition; true if there are too many. */
  readonly take: () => boolean
  readonly giveBack: (windows: number) => void
}

/** For all partitions. Beyond this, a partition closes the windows with the oldest matches early. */
const maxWindows = 50_000
/** Peers remembered per rule and indicator: the latest. */
const maxPeers = 64
const generation = 50_000

export const createSharedWindows = (): SharedWindows => {
  const committed = new Map<string, Window>()
  const groups = createBoundedCache<string, Map<string, number>>(generation, (peers) => peers.size)
  let count = 0
  const keyOf = ({ group, windowMs, number }: Pick<Window, 'group' | 'windowMs' | 'number'>): string =>
    `${number}\0${windowMs}\0${group}`
  return {
    find: (group, windowMs, number) => committed.get(keyOf({ group, windowMs, number })),
    add: (window) => void committed.set(keyOf(window), window),
    remove: (window) => {
      const key = keyOf(window)
      if (committed.get(key) === window) committed.delete(key)
    },
    matched: groups.get,
    noteMatch: (about, peer, number) => {
      const peers = groups.get(about) ?? new Map<string, number>()
      if (peers.size === 0) groups.set(about, peers)
      const latest = Math.max(number, peers.get(peer) ?? number)
      if (!peers.delete(peer)) groups.addWeight(1)
      peers.set(peer, latest)
      const [oldest] = peers.keys()
      if (peers.size > maxPeers && oldest !== undefined) peers.delete(oldest)
      return peers
    },
    forgetMatch: (about, peer) => void groups.get(about)?.delete(peer),
    take: () => ++count > maxWindows,
    giveBack: (windows) => {
      count -= windows
    },
  }
}
