// Gathers what is found in one event: bounded, each value once, under the role that says most, with the rule that gave it.
import { reverseNameToAddress } from '../../domain/hostname.js'
import type { IndicatorType } from '../../domain/indicator.js'
import type { Evidence, Role, Sighting } from '../../domain/sighting.js'

/** The lower, the more a role says about an event; known fields with a low weight are kept when not all fit. */
const weightOfRole: Readonly<Record<Role, number>> = {
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

/** A finding is never changed: one that says more takes its place. */
export type Finding = Sighting & { readonly rule: string }

export type Findings = {
  /** Forgets the event before; the list it gave remains whole. */
  readonly reset: () => void
  readonly add: (
    type: IndicatorType,
    value: string,
    field: string,
    role: Role,
    evidence: Evidence,
    rule: string,
    /** What stands behind the host where a whole URL was read; without a `value`, its host stands in another field. */
    path?: string,
  ) => void
  /** The port of an endpoint; the first that is told counts. */
  readonly addPort: (role: Role, port: number) => void
  readonly portOf: (role: 'source' | 'destination') => number
  /** Some address is known in this role; a name in it tells nothing about addresses. */
  readonly hasAddress: (role: Role) => boolean
  readonly isEndpoint: (value: string) => boolean
  /** Replaces a finding by one with another role. */
  /** A path in a field of its own belongs to the one host that was visited; where there are several, nobody can tell. */
  readonly joinPath: () => void
  readonly outrank: (at: number, role: Role, rule: string) => void
  /** Something was left out, here or by a reader that stopped early. */
  readonly markTruncated: () => void
  readonly list: () => readonly Finding[]
  readonly isTruncated: () => boolean
}

export const createFindings = (maxIndicators: number): Findings => {
  let entries: Finding[] = []
  let isTruncated = false
  let loosePath: string | undefined
  let sourcePort = 0
  let destinationPort = 0
  /** When all places are taken: what weighs as much as the least telling finds none. Entries only ever come to tell more. */
  let heaviest = Number.POSITIVE_INFINITY

  const add: Findings['add'] = (type, value, field, role, evidence, rule, path) => {
    if (value === '') {
      loosePath ??= path
      return
    }
    const address = type === 'domain' && value.endsWith('.arpa') ? reverseNameToAddress(value) : undefined
    if (address === undefined) put(type, value, field, role, evidence, rule, path)
    else put('ip', address, field, role, evidence, rule)
  }

  const put: Findings['add'] = (type, value, field, role, evidence, rule, path) => {
    for (let at = 0; at < entries.length; at++) {
      let entry = entries[at] as Finding
      if (entry.value !== value || entry.type !== type) continue
      if (path !== undefined) entry = entries[at] = { ...entry, paths: withPath(entry.paths, path) }
      const said = weightOfRole[entry.role]
      const saying = weightOfRole[role]
      // The two endpoints of a connection are both worth telling; of other roles the one that says most remains.
      if (saying !== said && said <= 1 && saying <= 1) continue
      const isBetter = evidence === 'field' && entry.evidence === 'text'
      if (saying < said) entries[at] = { ...entry, field, role, rule, evidence: isBetter ? 'field' : entry.evidence }
      else if (isBetter) entries[at] = { ...entry, evidence }
      return
    }
    const paths = path === undefined ? undefined : [path]
    const made: Finding = { type, value, field, role, evidence, rule, paths }
    if (entries.length < maxIndicators) {
      entries.push(made)
      return
    }
    isTruncated = true
    if (evidence === 'text' && role !== 'source' && role !== 'destination') return
    // A known field must not be crowded out by what an attacker put before it.
    const own = weightOf(made)
    if (own >= heaviest) return
    let worst = 0
    for (let at = 1; at < entries.length; at++) if (weightOf(entries[at]) >= weightOf(entries[worst])) worst = at
    heaviest = weightOf(entries[worst])
    if (heaviest > own) entries[worst] = made
  }

  return {
    reset: () => {
      entries = []
      loosePath = undefined
      isTruncated = false
      heaviest = Number.POSITIVE_INFINITY
      sourcePort = 0
      destinationPort = 0
    },
    add,
    addPort: (role, port) => {
      // `1e999` is a number to a parser, and no port.
      if (!Number.isInteger(port) || port < 1 || port > 65_535) return
      if (role === 'source') sourcePort ||= port
      else if (role === 'destination') destinationPort ||= port
    },
    portOf: (role) => (role === 'source' ? sourcePort : destinationPort),
    hasAddress: (role) => entries.some((entry) => entry.type === 'ip' && entry.role === role),
    isEndpoint: (value) => entries.some((entry) => entry.value === value && weightOfRole[entry.role] <= 1),
    joinPath: () => {
      if (loosePath === undefined) return
      const isVisited = ({ type, role, paths }: Finding): boolean =>
        type === 'domain' && role === 'url' && paths === undefined
      const at = entries.findIndex(isVisited)
      if (at < 0 || entries.filter(isVisited).length > 1) return
      entries[at] = { ...(entries[at] as Finding), paths: [loosePath] }
    },
    outrank: (at, role, rule) => {
      entries[at] = { ...(entries[at] as Finding), role, rule }
    },
    markTruncated: () => {
      isTruncated = true
    },
    list: () => entries,
    isTruncated: () => isTruncated,
  }
}

const maxPaths = 8
const withPath = (paths: readonly string[] = [], path: string): readonly string[] =>
  paths.length < maxPaths && !paths.includes(path) ? [...paths, path] : paths

const weightOf = (entry: Finding | undefined): number =>
  entry === undefined ? 0 : (entry.evidence === 'text' ? 100 : 0) + weightOfRole[entry.role]
