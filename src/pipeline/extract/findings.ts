// Collects the findings of one event: bounded, each value once, in its most telling role, with the rule that found it.
import { reverseNameToAddress } from '../../domain/hostname.js'
import type { IndicatorType } from '../../domain/indicator.js'
import type { Evidence, Role, Sighting } from '../../domain/sighting.js'

/** A lower weight tells more about an event. When not everything fits, known fields with a low weight stay. */
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

/** Findings are immutable; a better one replaces the old one. */
export type Finding = Sighting & { readonly rule: string }
export type Findings = ReturnType<typeof createFindings>

const maxPaths = 8

export const createFindings = (maxIndicators: number) => {
  let entries: Finding[] = []
  let isTruncated = false
  let loosePath: string | undefined
  let sourcePort = 0
  let destinationPort = 0

  /**
   * `path`: the part of a whole URL after its host; an empty `value` means that the host is in another field.
   * `port`: that of an address in a URL.
   */
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
      // A reverse lookup tells nothing new about an address that is already known.
      if (evidence === 'reverse') return
      if (entry.evidence === 'reverse') {
        entries[at] = { ...entry, field, role, evidence, rule }
        return
      }
      const said = weightOfRole[entry.role]
      const saying = weightOfRole[role]
      const isBetter = evidence === 'field' && entry.evidence === 'text'
      // Both ends of a connection are kept; of other roles the most telling one stays.
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
      // The heaviest finding makes room, so that an attacker cannot crowd out a known field with earlier text.
      isTruncated = true
      const worst = entries.reduce(heavier, made)
      if (worst !== made) entries[entries.indexOf(worst)] = made
    }
  }

  return {
    /** Forgets the previous event; the list it returned stays intact. */
    reset: (): void => {
      entries = []
      loosePath = undefined
      isTruncated = false
      sourcePort = 0
      destinationPort = 0
    },
    add,
    /** The port of an end; the first one counts. `1e999` parses as a number but is no port. */
    addPort: (role: Role, port: number): void => {
      if (!Number.isInteger(port) || port < 1 || port > 65_535) return
      if (role === 'source') sourcePort ||= port
      else if (role === 'destination') destinationPort ||= port
    },
    /** Swaps the ports of source and destination. */
    exchangePorts: (): void => {
      ;[sourcePort, destinationPort] = [destinationPort, sourcePort]
    },
    portOf: (role: 'source' | 'destination'): number => (role === 'source' ? sourcePort : destinationPort),
    /** Whether the address of a source is known; a host name does not count. */
    hasSource: (): boolean => entries.some(({ type, role }) => type === 'ip' && role === 'source'),
    /** A path in its own field belongs to the one visited host; with several hosts its owner is unclear. */
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
    /** Records that something was left out, here or by a reader that stopped early. */
    markTruncated: (): void => {
      isTruncated = true
    },
    list: (): readonly Finding[] => entries,
    isTruncated: (): boolean => isTruncated,
  }
}

const weightOf = ({ evidence, role }: Finding): number => (evidence === 'text' ? 100 : 0) + weightOfRole[role]
const heavier = (one: Finding, other: Finding): Finding => (weightOf(other) > weightOf(one) ? other : one)
