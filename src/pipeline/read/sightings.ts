// Gathers what the readers of one event find: bounded, each value once, under the role that says most.
import type { Evidence, Role, Sighting } from '../../domain/sighting.js'
import { reverseNameToAddress } from '../../domain/hostname.js'
import type { IndicatorType } from '../../domain/indicator.js'
import { settle } from './settle.js'

/** The lower, the more a role says about an event; known fields with a low rank are kept when not all fit. */
const rank: Readonly<Record<Role, number>> = {
  source: 0,
  destination: 1,
  query: 2,
  url: 3,
  mail: 4,
  answer: 5,
  translated: 6,
  observer: 7,
  other: 8,
}

export type Seen = {
  readonly type: IndicatorType
  readonly value: string
  readonly field: string
  readonly role: Role
  readonly evidence: Evidence
  readonly path: string | undefined
}
export type Entry = {
  type: IndicatorType
  value: string
  field: string
  role: Role
  evidence: Evidence
  paths: string[] | undefined
}

export type Sightings = {
  /** Forgets the event before; the list it gave remains whole. */
  readonly reset: () => void
  /** `path`: what stands behind the host where a whole URL was read; without a `value`, its host stands in another field. */
  readonly add: (
    type: IndicatorType,
    value: string,
    field: string,
    role: Role,
    evidence: Evidence,
    path?: string,
  ) => void
  /** Notes from here on what is added, until it is asked for. */
  readonly beginNotes: () => void
  readonly endNotes: () => readonly Seen[]
  /** Some address is known in this role; a name in it tells nothing about addresses. */
  readonly hasAddress: (role: Role) => boolean
  /** The value is known as an end of the connection. */
  readonly isEnd: (value: string) => boolean
  /** When all is read: what roles the addresses play beside each other. */
  readonly settle: (isLocalFirst: boolean) => void
  /** No place is left for what is found in text. */
  readonly isFull: () => boolean
  /** Something was left out, here or by a reader that stopped early. */
  readonly markTruncated: () => void
  readonly list: () => readonly Sighting[]
  readonly truncated: () => boolean
}

export const createSightings = (maxIndicators: number): Sightings => {
  let entries: Entry[] = []
  let truncated = false
  let notes: Seen[] | undefined
  let loosePath: string | undefined
  /** When all places are taken: what weighs as much as the least telling finds none. Entries only ever come to tell more. */
  let heaviest = Number.POSITIVE_INFINITY

  const add: Sightings['add'] = (type, value, field, role, evidence, path) => {
    notes?.push({ type, value, field, role, evidence, path })
    if (value === '') loosePath ??= path
    else put(type, value, field, role, evidence, path)
  }

  const put: Sightings['add'] = (type, value, field, role, evidence, path) => {
    if (type === 'domain' && value.endsWith('.arpa')) {
      const address = reverseNameToAddress(value)
      if (address !== undefined) {
        put('ip', address, field, role, evidence)
        return
      }
    }
    for (const entry of entries) {
      if (entry.value !== value || entry.type !== type) continue
      if (path !== undefined) addPath(entry, path)
      if (entry.role === role) {
        if (evidence === 'field') entry.evidence = 'field'
        return
      }
      // The two ends of a connection are both worth telling; of other roles the one that says most remains.
      if (rank[entry.role] <= 1 && rank[role] <= 1) continue
      if (rank[role] < rank[entry.role]) {
        entry.role = role
        entry.field = field
      }
      if (evidence === 'field') entry.evidence = 'field'
      return
    }
    if (entries.length < maxIndicators) {
      entries.push({ type, value, field, role, evidence, paths: path === undefined ? undefined : [path] })
      return
    }
    truncated = true
    if (evidence === 'text' && role !== 'source' && role !== 'destination') return
    // A known field must not be crowded out by what an attacker put before it.
    const own = (evidence === 'text' ? 100 : 0) + rank[role]
    if (own >= heaviest) return
    const worst = leastTelling(entries)
    heaviest = weight(entries[worst])
    if (heaviest > own)
      entries[worst] = { type, value, field, role, evidence, paths: path === undefined ? undefined : [path] }
  }

  return {
    reset: () => {
      entries = []
      loosePath = undefined
      truncated = false
      heaviest = Number.POSITIVE_INFINITY
    },
    add,
    beginNotes: () => {
      notes = []
    },
    endNotes: () => {
      const noted = notes ?? []
      notes = undefined
      return noted
    },
    hasAddress: (role) => entries.some((entry) => entry.type === 'ip' && entry.role === role),
    isEnd: (value) => entries.some((entry) => entry.value === value && rank[entry.role] <= 1),
    settle: (isLocalFirst) => {
      settle(entries, isLocalFirst)
      if (loosePath !== undefined) joinPath(entries, loosePath)
    },
    isFull: () => entries.length >= maxIndicators,
    markTruncated: () => {
      truncated = true
    },
    list: () => entries,
    truncated: () => truncated,
  }
}

/** A path in a field of its own belongs to the one host that was visited; where there are several, nobody can tell. */
const joinPath = (entries: readonly Entry[], path: string): void => {
  const hosts = entries.filter(({ type, role, paths }) => type === 'domain' && role === 'url' && paths === undefined)
  if (hosts.length === 1) for (const host of hosts) host.paths = [path]
}

const maxPaths = 8

const addPath = (entry: Entry, path: string): void => {
  if (entry.paths === undefined) entry.paths = [path]
  else if (entry.paths.length < maxPaths && !entry.paths.includes(path)) entry.paths.push(path)
}

const weight = (entry: Entry | undefined): number =>
  entry === undefined ? 0 : (entry.evidence === 'text' ? 100 : 0) + rank[entry.role]

const leastTelling = (entries: readonly Entry[]): number => {
  let worst = 0
  for (let at = 1; at < entries.length; at++) if (weight(entries[at]) >= weight(entries[worst])) worst = at
  return worst
}
