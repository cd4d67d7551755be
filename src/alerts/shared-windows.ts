// What the windows of all partitions share: alerts that are committed, which machines matched, and room for so many windows.
import { createBoundedCache } from '../base/bounded-cache.js'
import type { Window } from './window.js'

export type SharedWindows = {
  /** The window of a committed alert of any partition. */
  readonly find: (group: string, windowMs: number, number: number) => Window | undefined
  readonly add: (window: Window) => void
  readonly remove: (window: Window) => void
  /** Per rule and indicator: peers, and the number of the window in which each matched last, the latest last. */
  readonly matched: (about: string) => ReadonlyMap<string, number> | undefined
  readonly noteMatch: (about: string, peer: string, number: number) => ReadonlyMap<string, number>
  /** It was not committed. */
  readonly forgetMatch: (about: string, peer: string) => void
  /** Counts windows of all partitions; true if there are too many. */
  readonly take: () => boolean
  readonly giveBack: (windows: number) => void
}

/** Of all partitions. Beyond it the windows of a partition that matched longest ago are closed early. */
const maxWindows = 50_000
/** Remembered per rule and indicator: the latest. */
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
