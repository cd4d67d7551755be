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
  claimed: 8,
  other: 9,
}

/** A finding is never changed: one that says more takes its place. */
export type Finding = Sighting & { readonly rule: string }
export type Findings = ReturnType<typeof createFindings>

const maxPaths = 8

export const createFindings = (maxIndicators: number) => {
  let entries: Finding[] = []
  let isTruncated = false
  let loosePath: string | undefined
  let sourcePort = 0
  let destinationPort = 0

  /** `path`: what is behind the host where a whole URL was read; without a `value`, its host is in another field. `port`: of an address in a URL. */
  const add = (
    type: IndicatorType,
    value: string,
    field: string,
    role: Role,
    evidence: Evidence,
    rule: string,
    path?: string,
    port?: number,
  ): void => {
    if (value === '') {
      loosePath ??= path
      return
    }
    const address = type === 'domain' && value.endsWith('.arpa') ? reverseNameToAddress(value) : undefined
    if (address !== undefined) {
      add('ip', address, field, role, role === 'query' ? 'reverse' : evidence, rule)
      return
    }
    for (let at = 0; at < entries.length; at++) {
      const entry = entries[at] as Finding
      if (entry.value !== value || entry.type !== type) continue
      // Whoever asks for its name says nothing about it.
      if (evidence === 'reverse') return
      if (entry.evidence === 'reverse') {
        entries[at] = { ...entry, field, role, evidence, rule }
        return
      }
      const said = weightOfRole[entry.role]
      const saying = weightOfRole[role]
      const isBetter = evidence === 'field' && entry.evidence === 'text'
      // The two endpoints of a connection are both worth telling; of other roles the one that says most remains.
      const isOther = saying !== said && said <= 1 && saying <= 1
      if (path !== undefined || port !== undefined || isBetter || (saying < said && !isOther))
        entries[at] = {
          ...entry,
          ...(saying < said && !isOther ? { field, role, rule } : {}),
          evidence: isBetter && !isOther ? evidence : entry.evidence,
          port: entry.port ?? port,
          paths: path === undefined ? entry.paths : [...new Set([...(entry.paths ?? []), path])].slice(0, maxPaths),
        }
      if (!isOther) return
    }
    const made = { type, value, field, role, evidence, rule, paths: path === undefined ? undefined : [path], port }
    if (entries.length < maxIndicators) entries.push(made)
    else {
      // A known field must not be crowded out by what an attacker put before it.
      isTruncated = true
      const worst = entries.reduce(heavier, made)
      if (worst !== made) entries[entries.indexOf(worst)] = made
    }
  }

  return {
    /** Forgets the event before; the list it gave remains whole. */
    reset: (): void => {
      entries = []
      loosePath = undefined
      isTruncated = false
      sourcePort = 0
      destinationPort = 0
    },
    add,
    /** The port of an endpoint; the first counts. `1e999` is a number to a parser, and no port. */
    addPort: (role: Role, port: number): void => {
      if (!Number.isInteger(port) || port < 1 || port > 65_535) return
      if (role === 'source') sourcePort ||= port
      else if (role === 'destination') destinationPort ||= port
    },
    /** What was taken for the source's is the destination's. */
    exchangePorts: (): void => {
      ;[sourcePort, destinationPort] = [destinationPort, sourcePort]
    },
    portOf: (role: 'source' | 'destination'): number => (role === 'source' ? sourcePort : destinationPort),
    /** The address of a source is known; a name tells nothing about addresses. */
    hasSource: (): boolean => entries.some(({ type, role }) => type === 'ip' && role === 'source'),
    /** A path in a field of its own belongs to the one host that was visited; where there are several, nobody can tell. */
    joinPath: (): void => {
      if (loosePath === undefined) return
      const visited = entries.filter(({ type, role, paths }) => type === 'domain' && role === 'url' && !paths)
      const [only] = visited
      if (only && visited.length === 1) entries[entries.indexOf(only)] = { ...only, paths: [loosePath] }
    },
    /** Replaces a finding by one with another role. */
    outrank: (at: number, role: Role, rule: string): void => {
      entries[at] = { ...(entries[at] as Finding), role, rule }
    },
    /** Something was left out, here or by a reader that stopped early. */
    markTruncated: (): void => {
      isTruncated = true
    },
    list: (): readonly Finding[] => entries,
    isTruncated: (): boolean => isTruncated,
  }
}

const weightOf = ({ evidence, role }: Finding): number => (evidence === 'text' ? 100 : 0) + weightOfRole[role]
const heavier = (one: Finding, other: Finding): Finding => (weightOf(other) > weightOf(one) ? other : one)
