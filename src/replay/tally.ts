// The counts of a replay for one partition, committed with its offset, so that both survive a kill together.
import { levels, type Level } from '../domain/finding.js'

export type Tally = {
  readonly events: number
  readonly tombstones: number
  readonly verdicts: Readonly<Partial<Record<Level, number>>>
  /** Events with a known former verdict. */
  readonly compared: number
  /** Of those, events whose former verdict stands, because no newer information exists. */
  readonly stood: number
  /** Compared events with a changed verdict, keyed `former>now`. */
  readonly changes: Readonly<Record<string, number>>
  readonly alerts: number
  readonly alertsNew: number
  /** Events that went to the dead letters. */
  readonly deadLetters: number
  /** Dead letters that only point to an event, which therefore cannot be restored. */
  readonly pointers: number
  /** Records that were deleted before they were read. */
  readonly deleted: number
}

export const emptyTally: Tally = {
  events: 0,
  tombstones: 0,
  verdicts: {},
  compared: 0,
  stood: 0,
  changes: {},
  alerts: 0,
  alertsNew: 0,
  deadLetters: 0,
  pointers: 0,
  deleted: 0,
}

export const addTallies = (a: Tally, b: Tally): Tally => ({
  events: a.events + b.events,
  tombstones: a.tombstones + b.tombstones,
  verdicts: addCounts(a.verdicts, b.verdicts),
  compared: a.compared + b.compared,
  stood: a.stood + b.stood,
  changes: addCounts(a.changes, b.changes),
  alerts: a.alerts + b.alerts,
  alertsNew: a.alertsNew + b.alertsNew,
  deadLetters: a.deadLetters + b.deadLetters,
  pointers: a.pointers + b.pointers,
  deleted: a.deleted + b.deleted,
})

export const changedEvents = ({ changes }: Tally): number =>
  Object.values(changes).reduce((sum, count) => sum + count, 0)

/** Other tools may commit to the group, so invalid metadata counts as empty. */
export const decodeTally = (text: string): Tally => {
  let read: Partial<Record<keyof Tally, unknown>> | null
  try {
    read = JSON.parse(text) as typeof read
  } catch {
    return emptyTally
  }
  if (typeof read !== 'object' || read === null) return emptyTally
  const changes = levels.flatMap((from) => levels.map((to) => `${from}>${to}`))
  return {
    events: countOf(read.events),
    tombstones: countOf(read.tombstones),
    verdicts: countsOf(read.verdicts, levels),
    compared: countOf(read.compared),
    stood: countOf(read.stood),
    changes: countsOf(read.changes, changes),
    alerts: countOf(read.alerts),
    alertsNew: countOf(read.alertsNew),
    deadLetters: countOf(read.deadLetters),
    pointers: countOf(read.pointers),
    deleted: countOf(read.deleted),
  }
}

const countOf = (value: unknown): number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0

const countsOf = <Name extends string>(value: unknown, names: readonly Name[]): Record<Name, number> => {
  const counts = {} as Record<Name, number>
  if (typeof value !== 'object' || value === null) return counts
  for (const name of names) {
    const count = countOf((value as Readonly<Record<string, unknown>>)[name])
    if (count > 0) counts[name] = count
  }
  return counts
}

const addCounts = <Name extends string>(
  a: Readonly<Partial<Record<Name, number>>>,
  b: Readonly<Partial<Record<Name, number>>>,
): Record<Name, number> => {
  const sum = { ...a } as Record<Name, number>
  for (const name in b) sum[name] = (a[name] ?? 0) + (b[name] ?? 0)
  return sum
}
