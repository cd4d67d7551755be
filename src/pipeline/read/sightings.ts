// Gathers what the readers of one event find: bounded, each value once, under the role that says most.
import type { Evidence, Role, Sighting } from '../../domain/sighting.js'
import { reverseNameToAddress } from '../../domain/hostname.js'
import type { IndicatorType } from '../../domain/indicator.js'

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
}
type Entry = { type: IndicatorType; value: string; field: string; role: Role; evidence: Evidence }

export type Sightings = {
  /** Forgets the event before; the list it gave remains whole. */
  readonly reset: () => void
  readonly add: (type: IndicatorType, value: string, field: string, role: Role, evidence: Evidence) => void
  /** Notes from here on what is added, until it is asked for. */
  readonly beginNotes: () => void
  readonly endNotes: () => readonly Seen[]
  readonly has: (role: Role) => boolean
  /** The value is known as an end of the connection. */
  readonly isEnd: (value: string) => boolean
  /**
   * When all is read: a lone address is the source's; beside a client's address (`cip`) an `sip` is the server's, though alone it is the source's;
   * `remote` is who came, unless the ports say that the local end began.
   */
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
  /** When all places are taken: what weighs as much as the least telling finds none. Entries only ever come to tell more. */
  let heaviest = Number.POSITIVE_INFINITY

  const add: Sightings['add'] = (type, value, field, role, evidence) => {
    notes?.push({ type, value, field, role, evidence })
    put(type, value, field, role, evidence)
  }

  const put: Sightings['add'] = (type, value, field, role, evidence) => {
    if (type === 'domain' && value.endsWith('.arpa')) {
      const address = reverseNameToAddress(value)
      if (address !== undefined) {
        put('ip', address, field, role, evidence)
        return
      }
    }
    for (const entry of entries) {
      if (entry.value !== value || entry.type !== type) continue
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
      entries.push({ type, value, field, role, evidence })
      return
    }
    truncated = true
    if (evidence === 'text' && role !== 'source' && role !== 'destination') return
    // A known field must not be crowded out by what an attacker put before it.
    const own = (evidence === 'text' ? 100 : 0) + rank[role]
    if (own >= heaviest) return
    const worst = leastTelling(entries)
    heaviest = weight(entries[worst])
    if (heaviest > own) entries[worst] = { type, value, field, role, evidence }
  }

  return {
    reset: () => {
      entries = []
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
    has: (role) => entries.some((entry) => entry.role === role),
    isEnd: (value) => entries.some((entry) => entry.value === value && rank[entry.role] <= 1),
    settle: (isLocalFirst) => {
      settleOnly(entries)
      if (entries.length < 2) return
      settleOrigin(entries)
      if (isLocalFirst) {
        for (const entry of entries) {
          if (entry.role === 'source' && /remote/i.test(entry.field)) entry.role = 'destination'
          else if (entry.role === 'destination' && /local/i.test(entry.field)) entry.role = 'source'
        }
        return
      }
      let server: Entry | undefined
      for (const entry of entries)
        if (server === undefined && entry.role === 'source' && isServerField(entry.field)) server = entry
      if (!server || entries.some((entry) => entry.role === 'destination')) return
      if (entries.some((entry) => entry.role === 'source' && clientField.test(entry.field))) server.role = 'destination'
    },
    isFull: () => entries.length >= maxIndicators,
    markTruncated: () => {
      truncated = true
    },
    list: () => entries,
    truncated: () => truncated,
  }
}

/**
 * The only address of an event, under a name that says no more than that it is one, is who did it: `addr=192.0.2.1 res=failed`;
 * where it came to and who tells of it do not count: `laddr=198.51.100.1 addr=192.0.2.1`.
 */
const settleOnly = (entries: readonly Entry[]): void => {
  let only: Entry | undefined
  for (const entry of entries) {
    if (entry.role === 'query' || entry.role === 'answer') return
    if (entry.type !== 'ip' || entry.role === 'destination' || entry.role === 'observer') continue
    // An inside address that is listed as it was written, too.
    if (entry.value.startsWith('::ffff:')) continue
    if (only !== undefined || entry.role !== 'other' || entry.evidence !== 'field') return
    only = entry
  }
  if (only !== undefined && onlyField.test(only.field) && !aboutField.test(only.field)) only.role = 'source'
}
const onlyField = /(?:^|\.)(?:ip|addr|address|ip_?addr(?:ess)?|(?:work)?station)$/i
const aboutField = /threat|indicator|ioc|intel|related/i

/** Where someone came to a proxy, the origin is the server behind it, and a web server's own address is where they came to. */
const settleOrigin = (entries: readonly Entry[]): void => {
  let origin: Entry | undefined
  let hasSource = false
  for (const entry of entries) {
    if (entry.role === 'destination') return
    if (entry.role === 'source') hasSource = true
    else if (entry.role === 'observer' && originField.test(entry.field)) origin = entry
  }
  if (hasSource && origin !== undefined) origin.role = 'destination'
}
const originField = /(?:origin|host)_?ip$/i

const serverField = /(?:^|[._-])s[_-]?ip$/i
/** `sip` and the like are short behind the last dot: a look at the letter before spares nearly all fields the expression. */
const isServerField = (field: string): boolean => {
  const { length } = field
  if ((field.charCodeAt(length - 1) | 0x20) !== 0x70 || (field.charCodeAt(length - 2) | 0x20) !== 0x69) return false
  const before = field.charCodeAt(length - 3) | 0x20
  return (before === 0x73 || field.charCodeAt(length - 3) === 0x5f || before === 0x2d) && serverField.test(field)
}
const clientField = /(?:^|[._-])c[_-]?ip$/i

const weight = (entry: Entry | undefined): number =>
  entry === undefined ? 0 : (entry.evidence === 'text' ? 100 : 0) + rank[entry.role]

const leastTelling = (entries: readonly Entry[]): number => {
  let worst = 0
  for (let at = 1; at < entries.length; at++) if (weight(entries[at]) >= weight(entries[worst])) worst = at
  return worst
}
