// The sightings of one day of one input partition, as rows in a typed array to save memory.
import type { Indicator } from '../domain/indicator.js'
import { roles } from '../domain/sighting.js'
import { createIndicatorIndex, type IndicatorIndex } from './indicator-index.js'

/** The sightings of one indicator on one day. Times are milliseconds since midnight UTC. */
export type DayRow = {
  readonly indicator: Indicator
  readonly count: number
  readonly first: number
  readonly last: number
  readonly firstOffset: number
  readonly lastOffset: number
  /** Numbers of inside hosts. */
  readonly peers: readonly number[]
  /** Sightings by inside hosts beyond the listed ones. */
  readonly otherSightings: number
  /** Role bits: delivered as clean or unknown. */
  readonly unalerted: number
  /** Role bits: delivered before the answer. */
  readonly pending: number
  /** Bits for the directions and actions of its events. */
  readonly traffic: number
  /** Bits for the kinds of its sightings and their actions. */
  readonly kinds: number
  /** The lowest ports of its own end, ascending. Absent if counted by a version without ports. */
  readonly ports?: readonly number[]
}

export type DayTable = Pick<IndicatorIndex, 'size' | 'find' | 'add' | 'at'> & {
  readonly bytes: () => number
  /** Counts an event once, even if it contains the indicator twice or is delivered twice. False if it was counted before. */
  readonly count: (row: number, offset: number, timeOfDay: number) => boolean
  /** Counts another member of the batch that was counted last. */
  readonly countFurther: (row: number) => void
  readonly addPeer: (row: number, peer: number) => void
  readonly addTraffic: (row: number, bit: number) => void
  readonly addKind: (row: number, bit: number) => void
  readonly addPort: (row: number, port: number) => void
  readonly portsAt: (row: number) => readonly number[]
  readonly kindsAt: (row: number) => number
  readonly unalertedAt: (row: number) => number
  readonly pendingAt: (row: number) => number
  readonly setMarks: (row: number, unalerted: number, pending: number) => void
  /** Returns and clears the change flag of a row. `takeAnyChanged` does the same for the table. */
  readonly takeChanged: (row: number) => boolean
  readonly takeAnyChanged: () => boolean
  readonly read: (row: number) => DayRow
  /** Sets a row from stored counts. */
  readonly restore: (row: number, from: DayRow, isNew: boolean) => void
}

/** Inside hosts listed per indicator and day; further ones are only counted. */
export const maxPeers = 16
/** Only the lowest ports are kept, since servers use low ports and clients high ones. */
export const maxPorts = 4

// The words of a row.
const count = 0
const first = 1
const last = 2
const firstOffset = 3
const lastOffset = 4
const peers = 5
const marks = 6
const traffic = 7
const kinds = 8
/** Two words with two 16-bit ports each; 0 means none. */
const ports = 9
const stride = 11

// The marks word: unalerted roles, pending roles, and the change flag.
const roleBits = (1 << roles.length) - 1
const pendingShift = roles.length
const isChanged = 1 << (2 * roles.length)

const noPorts: readonly number[] = []

/** The peers word is 0, a single peer plus one, or this flag plus the index of a list. */
const isList = 0x8000_0000
type PeerList = { readonly ids: readonly number[]; others: number }

export const createDayTable = (seed: number): DayTable => {
  const index = createIndicatorIndex(seed)
  let words = new Uint32Array(256 * stride)
  /** Offsets are stored as distances from this one. */
  let base: number | undefined
  let anyChanged = false
  const lists: PeerList[] = []

  const get = (row: number, at: number): number => words[row * stride + at] ?? 0
  const set = (row: number, at: number, value: number): void => {
    words[row * stride + at] = value
  }

  const distance = (offset: number): number => {
    base ??= offset
    if (offset < base) {
      // Leave a margin, because restored offsets come in any order.
      const lower = Math.max(0, offset - 1_000_000)
      for (let row = 0; row < index.size(); row++)
        for (const at of [firstOffset, lastOffset]) set(row, at, get(row, at) + base - lower)
      base = lower
    }
    return Math.min(offset - base, 0xffff_ffff)
  }

  const peersAt = (row: number): PeerList => {
    const held = get(row, peers)
    if (held === 0) return { ids: [], others: 0 }
    return (held < isList ? undefined : lists[held - isList]) ?? { ids: [held - 1], others: 0 }
  }
  const setPeers = (row: number, list: PeerList): void => {
    const held = get(row, peers)
    if (held < isList) set(row, peers, isList + lists.push(list) - 1)
    else lists[held - isList] = list
  }
  const setMarks = (row: number, unalerted: number, pending: number): void => {
    anyChanged = true
    set(row, marks, isChanged | unalerted | (pending << pendingShift))
  }
  const portsAt = (row: number): readonly number[] => {
    const [low, high] = [get(row, ports), get(row, ports + 1)]
    if (low === 0) return noPorts
    return [low & 0xffff, low >>> 16, high & 0xffff, high >>> 16].filter((port) => port !== 0)
  }
  const setPorts = (row: number, [a = 0, b = 0, c = 0, d = 0]: readonly number[]): void => {
    set(row, ports, a | (b << 16))
    set(row, ports + 1, c | (d << 16))
  }
  const unalertedAt = (row: number): number => get(row, marks) & roleBits
  const pendingAt = (row: number): number => (get(row, marks) >>> pendingShift) & roleBits

  return {
    size: index.size,
    find: index.find,
    at: index.at,
    bytes: () => index.bytes() + words.byteLength + lists.length * (80 + 8 * maxPeers),
    add: (indicator) => {
      if ((index.size() + 1) * stride > words.length) {
        const larger = new Uint32Array(Math.ceil(index.size() * 1.5) * stride)
        larger.set(words)
        words = larger
      }
      return index.add(indicator)
    },
    count: (row, offset, timeOfDay) => {
      const away = distance(offset)
      const before = get(row, count)
      if (before > 0 && away <= get(row, lastOffset)) return false
      set(row, count, before + 1)
      if (before === 0 || timeOfDay < get(row, first)) set(row, first, timeOfDay)
      if (before === 0 || timeOfDay > get(row, last)) set(row, last, timeOfDay)
      if (before === 0) set(row, firstOffset, away)
      set(row, lastOffset, away)
      set(row, marks, get(row, marks) | isChanged)
      anyChanged = true
      return true
    },
    countFurther: (row) => set(row, count, get(row, count) + 1),
    addPeer: (row, peer) => {
      const held = get(row, peers)
      if (held === peer + 1) return
      const list = peersAt(row)
      if (held === 0) set(row, peers, peer + 1)
      else if (list.ids.includes(peer)) return
      else if (list.ids.length >= maxPeers) list.others++
      else setPeers(row, { ids: [...list.ids, peer], others: 0 })
    },
    addTraffic: (row, bit) => set(row, traffic, get(row, traffic) | bit),
    addKind: (row, bit) => set(row, kinds, get(row, kinds) | bit),
    addPort: (row, port) => {
      if ((get(row, ports) & 0xffff) === port) return
      const known = portsAt(row)
      if (!known.includes(port)) setPorts(row, lowestPorts([...known, port]))
    },
    portsAt,
    kindsAt: (row) => get(row, kinds),
    unalertedAt,
    pendingAt,
    setMarks,
    takeChanged: (row) => {
      const held = get(row, marks)
      set(row, marks, held & ~isChanged)
      return (held & isChanged) !== 0
    },
    takeAnyChanged: () => {
      const were = anyChanged
      anyChanged = false
      return were
    },
    read: (row) => {
      const { ids, others } = peersAt(row)
      return {
        indicator: index.at(row),
        count: get(row, count),
        first: get(row, first),
        last: get(row, last),
        firstOffset: (base ?? 0) + get(row, firstOffset),
        lastOffset: (base ?? 0) + get(row, lastOffset),
        peers: ids,
        otherSightings: others,
        unalerted: unalertedAt(row),
        pending: pendingAt(row),
        traffic: get(row, traffic),
        kinds: get(row, kinds),
        ports: portsAt(row),
      }
    },
    restore: (row, from, isNew) => {
      set(row, count, from.count)
      set(row, first, from.first)
      set(row, last, from.last)
      set(row, firstOffset, distance(from.firstOffset))
      set(row, lastOffset, distance(from.lastOffset))
      const [only] = from.peers
      if (from.peers.length > 1) setPeers(row, { ids: from.peers.slice(0, maxPeers), others: from.otherSightings })
      else if (only !== undefined) set(row, peers, only + 1)
      set(row, traffic, from.traffic)
      set(row, kinds, from.kinds)
      setPorts(row, from.ports ?? [])
      setMarks(row, from.unalerted, from.pending)
      if (!isNew) set(row, marks, get(row, marks) & ~isChanged)
    },
  }
}

/** Independent of the order in which counts are merged. */
export const lowestPorts = (all: readonly number[]): readonly number[] =>
  [...new Set(all)].toSorted((one, other) => one - other).slice(0, maxPorts)
