// Counts sightings in one input partition: per day and indicator the number, times, inside hosts and offsets.
import type { Finding } from '../domain/finding.js'
import type { Indicator } from '../domain/indicator.js'
import { isInsideHost } from '../domain/inside-host.js'
import type { Judged, Verdict } from '../domain/verdict.js'
import type { EventAround } from '../domain/seen-as.js'
import { anyPort, portSeen, unknownPort } from '../domain/seen-port.js'
import { passes } from '../domain/reason.js'
import { roles, type Extraction, type Role, type Sighting } from '../domain/sighting.js'
import { everyAccused, type Accused } from './count-record.js'
import type { DayTable } from './day-table.js'
import { createPartitionTables, type KeptTables, type TableOptions } from './partition-tables.js'
import { dayMs, sumOf, type Seen } from './seen.js'
import { hasAcceptedLogin, kindBit } from './kinds.js'
import { trafficBit } from './traffic.js'

/** The countable part of a delivered record. */
export type Delivered = {
  readonly offset: number
  /** Epoch milliseconds. */
  readonly time: number
  readonly judged: readonly Judged[]
  /** The judged sightings of each member, if the record is a batch. */
  readonly members?: readonly (readonly Judged[])[] | undefined
  /** Context of the event, or of each member in order. Absent if unknown. */
  readonly around?: EventAround | readonly EventAround[]
}

type Annotated = {
  readonly time?: number | undefined
  readonly judged: readonly Judged[]
  readonly summary: EventAround
  readonly extraction?: Pick<Extraction, 'sourcePort' | 'destinationPort'>
}

const aroundOf = ({ summary, extraction }: Annotated): EventAround => {
  const { direction, action, activity, password_accepted } = summary
  const { sourcePort, destinationPort } = extraction ?? {}
  return { direction, action, activity, password_accepted, sourcePort, destinationPort }
}
const unknownAround: EventAround = { direction: 'unknown', action: 'unknown' }
const aroundIn = (around: Delivered['around'], nth: number): EventAround => {
  if (around === undefined) return unknownAround
  return isSeveral(around) ? (around[nth] ?? unknownAround) : nth === 0 ? around : unknownAround
}
const isSeveral = (around: EventAround | readonly EventAround[]): around is readonly EventAround[] =>
  Array.isArray(around)

/** Extracts the countable part of an event, or of all members of a batch. */
export const deliveredOf = (
  offset: number,
  event: Annotated & { readonly members?: readonly Annotated[] | undefined },
  now: number,
): Delivered => ({
  offset,
  time: event.time ?? now,
  judged: event.judged,
  members: event.members?.map((member) => member.judged),
  around: event.members?.map(aroundOf) ?? aroundOf(event),
})

/** An indicator delivered as clean or unknown, with the roles and ports in which it was seen on those days. */
export type Unalerted = {
  readonly indicator: Indicator
  readonly roles: readonly Role[]
  readonly ports: readonly number[]
}

export type SightingCounts = KeptTables & {
  /** Call only with committed events, in order. Counting is idempotent per offset. */
  readonly count: (events: readonly Delivered[], now: number) => void
  readonly seen: (indicator: Indicator) => Seen | undefined
  /** Lazy, so that the caller may pause in between. Counts that arrive meanwhile may be included. */
  readonly unalerted: (withPending: boolean) => Generator<Unalerted>
  readonly unalertedOf: (indicator: Indicator) => Unalerted | undefined
  /** Settles a pending sighting. A malicious answer raises a late alert; any other answer, or none, leaves the sighting unalerted. */
  readonly settle: (day: number, sighting: Sighting, verdict?: Verdict) => void
  /** Settles restored pending sightings from events that were annotated again with their answers. */
  readonly answered: (events: readonly Delivered[], now: number) => void
  /**
   * Settles restored pending sightings without a waiting note: a process may have been killed between an answer and the next write of its
   * counts. They count as unalerted, unless the value was called malicious.
   */
  readonly settleUnawaited: (
    isAwaited: (firstOffset: number, lastOffset: number) => boolean,
    isTold: (value: string) => boolean,
  ) => void
  /** Sets the counts into which these are being merged: open answers then settle the sighting in both. */
  readonly addedTo: (counts: Pick<SightingCounts, 'settle'>) => void
  /** Call once every host that saw the indicator is covered by an alert. Returns a function that undoes it. */
  readonly alerted: (indicator: Indicator) => () => void
}

/** Retention in days, including today. */
export const keptDays = 14

export type CountOptions = TableOptions & {
  readonly judge: (finding: Finding, sighting: Sighting) => Verdict
}

export const createSightingCounts = ({ judge, ...options }: CountOptions): SightingCounts => {
  const { of, rowOf, hostNumber, each, tables, dropUpTo, ...kept } = createPartitionTables(options)

  const addPeers = (table: DayTable, row: number, judged: readonly Judged[]): void => {
    for (const { sighting, decision } of judged)
      if (decision.decision === 'skip' && isInsideHost(sighting.role, decision.reason)) {
        const number = hostNumber(sighting.value)
        if (number >= 0) table.addPeer(row, number)
      }
  }

  /** Sightings with an open answer in this process; restored marks are not included. */
  const awaited = new Set<string>()
  let target: Pick<SightingCounts, 'settle'> | undefined

  const markUnalerted = (day: number, row: number, { sighting, late }: Judged): void => {
    const table = of(day)
    const bit = 1 << roles.indexOf(sighting.role)
    const unalerted = table.unalertedAt(row)
    const pending = table.pendingAt(row)
    if (late === undefined) {
      if (!(unalerted & bit)) table.setMarks(row, unalerted | bit, pending)
    } else if (!awaited.has(awaitedKey(day, sighting))) {
      awaited.add(awaitedKey(day, sighting))
      if (!(pending & bit)) table.setMarks(row, unalerted, pending | bit)
      late.then(
        (finding) => settle(day, sighting, judge(finding, sighting)),
        () => settle(day, sighting),
      )
    }
  }

  const settle: SightingCounts['settle'] = (day, sighting, verdict) => {
    target?.settle(day, sighting, verdict)
    const table = of(day)
    awaited.delete(awaitedKey(day, sighting))
    const row = table.find(sighting)
    if (row < 0) return
    const bit = 1 << roles.indexOf(sighting.role)
    const pending = table.pendingAt(row)
    if (pending & bit)
      table.setMarks(row, table.unalertedAt(row) | (verdict?.level === 'malicious' ? 0 : bit), pending & ~bit)
  }

  const countEvent = (
    day: number,
    time: number,
    offset: number,
    judged: readonly Judged[],
    around: EventAround,
    further?: Set<number>,
  ): void => {
    const table = of(day)
    let own: Set<number> | undefined
    let isNew = false
    let hasSource = false
    let hasDestination = false
    for (const one of judged) {
      const { role, type } = one.sighting
      let port = unknownPort
      if (type === 'ip') {
        port = portSeen(one.sighting, around, role === 'source' ? !hasSource : !hasDestination)
        hasSource ||= role === 'source'
        hasDestination ||= role === 'destination'
      }
      if (one.decision.decision === 'skip' || one.sighting.evidence === 'reverse') continue
      const row = rowOf(day, one.sighting)
      if (row < 0) continue
      const isFurther = further?.has(row) === true && own?.has(row) !== true
      if (isFurther) table.countFurther(row)
      if (isFurther || table.count(row, offset, time - day * dayMs)) {
        isNew = true
        addPeers(table, row, judged)
        table.addTraffic(row, trafficBit(around))
        if (further) {
          further.add(row)
          own = (own ?? new Set()).add(row)
        }
      }
      if (isNew) table.addKind(row, kindBit(role, around))
      if (isNew && port > 0) table.addPort(row, port)
      if (isNew && !isAccused(one.sighting, judged)) markUnalerted(day, row, one)
    }
  }

  /** Counts each member of a batch, although all share one offset. */
  const countRecord = (day: number, time: number, { offset, judged, members, around }: Delivered): void => {
    if (!members) {
      countEvent(day, time, offset, judged, aroundIn(around, 0))
      return
    }
    const counted = new Set<number>()
    for (const [nth, member] of members.entries()) countEvent(day, time, offset, member, aroundIn(around, nth), counted)
  }

  return {
    ...kept,
    count: (events, now) => {
      const oldest = Math.floor(now / dayMs) - keptDays
      dropUpTo(oldest)
      for (const event of events) {
        const time = Math.min(event.time, now)
        const day = Math.floor(time / dayMs)
        if (day > oldest) countRecord(day, time, event)
      }
    },
    seen: (indicator) => sumOf(kept.days(indicator)),
    *unalerted(withPending) {
      for (const table of tables())
        for (let row = 0; row < table.size(); row++) {
          const bits = table.unalertedAt(row) | (withPending ? table.pendingAt(row) : 0)
          if (bits !== 0) yield { indicator: table.at(row), roles: rolesIn(bits), ports: portsOf(table, row) }
        }
    },
    unalertedOf: (indicator) => {
      let bits = 0
      const ports = new Set<number>()
      each(indicator, (table, row) => {
        bits |= table.unalertedAt(row)
        if (table.unalertedAt(row) !== 0) for (const port of portsOf(table, row)) ports.add(port)
      })
      return bits === 0 ? undefined : { indicator, roles: rolesIn(bits), ports: [...ports] }
    },
    settle,
    answered: (events, now) => {
      for (const { time, judged, members } of events)
        for (const one of [judged, ...(members ?? [])].flat())
          if (isAnswered(one)) settle(Math.floor(Math.min(time, now) / dayMs), one.sighting, one.verdict)
    },
    settleUnawaited: (isAwaited, isTold) => {
      for (const table of tables())
        for (let row = 0; row < table.size(); row++) {
          const pending = table.pendingAt(row)
          if (pending === 0) continue
          const { firstOffset, lastOffset, indicator } = table.read(row)
          if (isAwaited(firstOffset, lastOffset)) continue
          table.setMarks(row, table.unalertedAt(row) | (isTold(indicator.value) ? 0 : pending), 0)
        }
    },
    addedTo: (counts) => {
      target = counts
    },
    alerted: (indicator) => {
      const takeBack: (() => void)[] = []
      each(indicator, (table, row) => {
        const [unalerted, pending] = [table.unalertedAt(row), table.pendingAt(row)]
        table.setMarks(row, 0, 0)
        takeBack.push(() => table.setMarks(row, table.unalertedAt(row) | unalerted, table.pendingAt(row) | pending))
      })
      return () => {
        for (const one of takeBack) one()
      }
    },
  }
}

/** Whether the event was delivered with a bad verdict about the indicator, in any role. */
const isAccused = ({ value }: Indicator, judged: readonly Judged[]): boolean => {
  for (const one of judged) if (accuses(one) && one.sighting.value === value) return true
  return false
}

const isAnswered = ({ decision, verdict: { reason }, late }: Judged): boolean =>
  decision.decision === 'lookup' && late === undefined && (reason === undefined || !passes(reason))

const accuses = ({ verdict: { level } }: Judged): boolean => level === 'malicious' || level === 'suspicious'

/** The indicators that a record was delivered with a bad verdict about. */
export const accusedOf = (event: Delivered): readonly Accused[] => {
  // Allocate only for the rare event with a bad verdict.
  if (!isAccusing(event)) return nobody
  const { offset, judged, members } = event
  const values = [...judged, ...(members?.flat() ?? [])].filter(accuses).map(({ sighting }) => sighting.value)
  return [{ offset, values: [...new Set(values)] }]
}

const nobody: readonly Accused[] = []

/** Whether a record was delivered with a bad verdict. */
export const isAccusing = ({ judged, members }: Delivered): boolean => {
  for (const one of judged) if (accuses(one)) return true
  return members?.some((member) => member.some(accuses)) === true
}

/** The indicators that a late answer calls malicious. Their event already has its alert. */
export const lateAccusedOf = ({ offset, judged, members }: Delivered): readonly Accused[] => {
  const malicious = [...judged, ...(members?.flat() ?? [])].filter(({ verdict: { level } }) => level === 'malicious')
  return malicious.length === 0
    ? []
    : [{ offset, values: [...new Set(malicious.map(({ sighting }) => sighting.value))] }]
}

/**
 * Restores the bad verdicts that a record was delivered with, after it is annotated again. A verdict by a feed is reset to unknown, so
 * that a new listing raises a retro alert. An answer of the provider stays, because the event waited for it.
 */
export const asDelivered = ({ judged, members, ...rest }: Delivered, accused: ReadonlySet<string>): Delivered => {
  const then = (one: Judged): Judged => {
    if (accused.has(one.sighting.value) || (accused.has(everyAccused) && accuses(one)))
      return { ...one, late: undefined, verdict: accusing }
    return accuses(one) && one.verdict.feed !== undefined ? { ...one, verdict: unknown } : one
  }
  return { ...rest, judged: judged.map(then), members: members?.map((member) => member.map(then)) }
}
const accusing: Verdict = { level: 'malicious', flags: {}, because: '' }
const unknown: Verdict = { level: 'unknown', flags: {}, because: '' }

/** After a login with the right password the port does not identify the server. */
const portsOf = (table: DayTable, row: number): readonly number[] =>
  hasAcceptedLogin(table.kindsAt(row)) ? loginPorts : table.portsAt(row)
const loginPorts: readonly number[] = [anyPort]

const awaitedKey = (day: number, { role, type, value }: Sighting): string => `${day}/${role}/${type}/${value}`

const rolesIn = (bits: number): readonly Role[] => roles.filter((_, at) => bits & (1 << at))
