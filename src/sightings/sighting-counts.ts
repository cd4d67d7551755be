// Who has seen what in one input partition: per day and indicator how often, when, by which inside hosts and at which offsets.
import type { Finding } from '../domain/finding.js'
import type { Indicator } from '../domain/indicator.js'
import type { Judged } from '../domain/judged.js'
import { roles, type Role, type Sighting } from '../domain/sighting.js'
import type { Verdict } from '../domain/verdict.js'
import { createDayTable, type DayRow, type DayTable } from './day-table.js'
import { dayMs, sumOf, together, type Seen, type SeenOnDay } from './seen.js'

/** A delivered event, as far as it is counted. */
export type Delivered = {
  readonly offset: number
  /** Epoch milliseconds of the record. */
  readonly time: number
  readonly judged: readonly Judged[]
}

/** An indicator that was delivered as clean or unknown, and the roles in which it was. */
export type Untold = { readonly indicator: Indicator; readonly roles: readonly Role[] }

export type SightingCounts = {
  /** Only for what is committed. An event that was counted before is not counted again. */
  readonly note: (events: readonly Delivered[], now: number) => void
  readonly seen: (indicator: Indicator) => Seen | undefined
  /** Lazily, so that the caller may pause between two; what is noted meanwhile may come along. */
  readonly untold: (withPending: boolean) => Generator<Untold>
  readonly untoldOf: (indicator: Indicator) => Untold | undefined
  /** Everybody who should be told about the indicator was. */
  readonly told: (indicator: Indicator) => void
  /** What has changed since it was last taken. */
  readonly takeChanged: () => Generator<SeenOnDay>
  /** Sets what was kept elsewhere, if it counts more than what is known. */
  readonly restore: (seen: SeenOnDay) => void
  /** Adds what was counted elsewhere: no event may be in both. */
  readonly add: (seen: SeenOnDay) => void
  readonly oldestDay: () => number
  readonly dropDay: (day: number) => void
  readonly rows: () => number
  readonly bytes: () => number
  /** Sightings of indicators for which there was no room. */
  readonly uncounted: () => number
}

/** Today and the days before it that are kept. */
export const keptDays = 14

/** Inside hosts that can be named; sightings by further ones are counted without their host. */
const maxHosts = 65_536

export type CountOptions = {
  readonly seed: number
  /** Whether another indicator may be noted for a day; called for every new one. */
  readonly hasRoom: (day: number) => boolean
  readonly judge: (finding: Finding, sighting: Sighting) => Verdict
}

export const createSightingCounts = ({ seed, hasRoom, judge }: CountOptions): SightingCounts => {
  const days = new Map<number, DayTable>()
  const hosts: string[] = []
  const hostNumbers = new Map<string, number>()
  let uncounted = 0

  const tableOf = (day: number): DayTable => {
    const known = days.get(day)
    if (known) return known
    const made = createDayTable(seed)
    days.set(day, made)
    return made
  }

  const rowOf = (table: DayTable, indicator: Indicator, day: number): number => {
    const row = table.find(indicator)
    return row >= 0 || !hasRoom(day) ? row : table.add(indicator)
  }

  const hostNumber = (host: string): number => {
    const known = hostNumbers.get(host)
    if (known !== undefined || hosts.length >= maxHosts) return known ?? -1
    hostNumbers.set(host, hosts.length)
    return hosts.push(host) - 1
  }

  const addPeers = (table: DayTable, row: number, judged: readonly Judged[]): void => {
    for (const { sighting, decision } of judged)
      if (decision.decision === 'skip' && isInside(decision.reason) && isEndpoint(sighting.role)) {
        const number = hostNumber(sighting.value)
        if (number >= 0) table.addPeer(row, number)
      }
  }

  const markUntold = (table: DayTable, row: number, { sighting, late }: Judged): void => {
    const bit = 1 << roles.indexOf(sighting.role)
    const untold = table.untoldAt(row)
    const pending = table.pendingAt(row)
    if (late === undefined) {
      if (!(untold & bit)) table.setMarks(row, untold | bit, pending)
    } else if (!(pending & bit)) {
      table.setMarks(row, untold, pending | bit)
      late.then(
        (finding) => settle(table, row, bit, judge(finding, sighting)),
        () => settle(table, row, bit),
      )
    }
  }

  /** Who was pending is told of bad news by a late alert; otherwise he was left with clean or unknown. */
  const settle = (table: DayTable, row: number, bit: number, verdict?: Verdict): void => {
    const pending = table.pendingAt(row)
    if (pending & bit)
      table.setMarks(row, table.untoldAt(row) | (verdict?.level === 'malicious' ? 0 : bit), pending & ~bit)
  }

  const noteEvent = (table: DayTable, day: number, timeOfDay: number, { offset, judged }: Delivered): void => {
    let isNew = false
    for (const one of judged) {
      if (one.decision.decision === 'skip') continue
      const row = rowOf(table, one.sighting, day)
      if (row < 0) uncounted++
      else if (table.count(row, offset, timeOfDay)) {
        isNew = true
        addPeers(table, row, judged)
      }
      if (row >= 0 && isNew && !isAccused(one.sighting, judged)) markUntold(table, row, one)
    }
  }

  const eachRow = (indicator: Indicator, use: (table: DayTable, row: number, day: number) => void): void => {
    for (const [day, table] of [...days].toSorted(([one], [other]) => one - other)) {
      const row = table.find(indicator)
      if (row >= 0) use(table, row, day)
    }
  }

  const named = (row: DayRow, day: number): SeenOnDay => ({
    ...row,
    day,
    peers: row.peers.map((number) => hosts[number] ?? ''),
  })

  const set = (seen: SeenOnDay, next: (known: SeenOnDay) => SeenOnDay): void => {
    const { day, indicator } = seen
    const table = tableOf(day)
    const at = rowOf(table, indicator, day)
    if (at < 0) {
      uncounted += seen.count
      return
    }
    const row = next(named(table.read(at), day))
    table.restore(at, { ...row, peers: row.peers.map(hostNumber).filter((number) => number >= 0) })
  }

  return {
    note: (events, now) => {
      const today = Math.floor(now / dayMs)
      for (const day of days.keys()) if (day <= today - keptDays) days.delete(day)
      let day = -1
      let table: DayTable | undefined
      for (const event of events) {
        const time = Math.min(event.time, now)
        const own = Math.floor(time / dayMs)
        if (own <= today - keptDays) continue
        if (own !== day || !table) {
          day = own
          table = tableOf(day)
        }
        noteEvent(table, day, time - day * dayMs, event)
      }
    },
    seen: (indicator) => {
      const found: SeenOnDay[] = []
      eachRow(indicator, (table, row, day) => found.push(named(table.read(row), day)))
      return sumOf(found)
    },
    *untold(withPending) {
      for (const table of [...days.values()])
        for (let row = 0; row < table.size(); row++) {
          const bits = table.untoldAt(row) | (withPending ? table.pendingAt(row) : 0)
          if (bits !== 0) yield { indicator: table.at(row), roles: rolesIn(bits) }
        }
    },
    untoldOf: (indicator) => {
      let bits = 0
      eachRow(indicator, (table, row) => (bits |= table.untoldAt(row)))
      return bits === 0 ? undefined : { indicator, roles: rolesIn(bits) }
    },
    told: (indicator) => eachRow(indicator, (table, row) => table.setMarks(row, 0, 0)),
    *takeChanged() {
      for (const [day, table] of [...days])
        for (let row = 0; row < table.size(); row++) if (table.takeChanged(row)) yield named(table.read(row), day)
    },
    restore: (seen) => set(seen, (known) => (known.count < seen.count ? seen : known)),
    add: (seen) => set(seen, (known) => (known.count === 0 ? seen : together(known, seen))),
    oldestDay: () => Math.min(...days.keys()),
    dropDay: (day) => void days.delete(day),
    rows: () => sum(days.values(), (table) => table.size()),
    bytes: () => sum(days.values(), (table) => table.bytes()),
    uncounted: () => uncounted,
  }
}

const isInside = (reason: string): boolean => reason === 'private_address' || reason === 'own_range'
const isEndpoint = (role: Role): boolean => role === 'source' || role === 'destination'

/** Whether the event was delivered with a bad verdict about the indicator, in whatever role. */
const isAccused = ({ value }: Indicator, judged: readonly Judged[]): boolean => {
  for (const { verdict, sighting } of judged)
    if ((verdict.level === 'malicious' || verdict.level === 'suspicious') && sighting.value === value) return true
  return false
}

const rolesIn = (bits: number): readonly Role[] => roles.filter((_, at) => bits & (1 << at))

const sum = <One>(all: Iterable<One>, of: (one: One) => number): number => {
  let total = 0
  for (const one of all) total += of(one)
  return total
}
