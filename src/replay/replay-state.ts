// The state of a replayed partition: its counts, committed together with the position, and its alerts.
import { eventsIn, type EventOut } from '../pipeline/pipeline.js'
import type { Level } from '../domain/finding.js'
import type { AlertOut } from '../delivery/compose.js'
import type { ChunkListener, PartitionState } from '../delivery/listener.js'
import type { Outgoing } from '../kafka/records.js'
import type { Restored } from './restore.js'
import { addTallies, emptyTally, type Tally } from './tally.js'

type RaisedAlert = AlertOut & { readonly origin: string }

/** The alerts of one chunk. */
export type ReplayAlerts = {
  readonly raise: (events: readonly EventOut[]) => readonly RaisedAlert[]
  readonly commit: () => void
  readonly giveUp: () => void
}

type ReplayState = Pick<PartitionState, 'chunk'> & {
  /** The counts up to the position. */
  readonly read: () => Tally
  /** Sets the counts committed with the position, after the position was read again. */
  readonly restore: (committed: Tally) => void
  /** Counts records that are read but not delivered. They are committed with the next delivery. */
  readonly pass: (passed: Partial<Tally>) => void
  /** Call with the records that are delivered next. */
  readonly begin: (records: readonly Restored[]) => void
}

type ReplayStateOptions = {
  /** Absent if alerts are off. */
  readonly beginAlerts?: (() => ReplayAlerts) | undefined
  readonly recordOf: (alert: AlertOut) => Outgoing
  /** Whether to raise alerts for events with an unchanged verdict too. */
  readonly raiseAll: boolean
}

export const openReplayState = ({ beginAlerts, recordOf, raiseAll }: ReplayStateOptions): ReplayState => {
  let reached = emptyTally
  /** Including the chunks being written. */
  let sending = emptyTally
  let passed = emptyTally
  const records = new Map<number, Restored>()

  const chunk = (): ChunkListener => {
    const verdicts: Partial<Record<Level, number>> = {}
    const changes: Record<string, number> = {}
    const newOrigins = new Set<string>()
    const counts = { events: 0, compared: 0, stood: 0, alerts: 0, alertsNew: 0 }
    let sum = emptyTally
    let alerts: ReplayAlerts | undefined
    const see = (event: EventOut, before: Level | undefined): void => {
      const { verdict } = event
      if (before !== undefined) counts.compared++
      if (event.judged.some((judged) => judged.verdict.former) && event.annotation.former) counts.stood++
      const isChanged = before !== undefined && before !== verdict
      if (isChanged) changes[`${before}>${verdict}`] = (changes[`${before}>${verdict}`] ?? 0) + 1
      for (const one of eventsIn([event])) {
        verdicts[one.verdict] = (verdicts[one.verdict] ?? 0) + 1
        counts.events++
        if (before === undefined || isChanged) newOrigins.add(one.origin)
      }
    }
    return {
      see: (offset, event) => {
        const { former, formers } = records.get(offset) ?? {}
        if (event.members && formers)
          for (const [nth, member] of event.members.entries()) see(member, formers[nth]?.level)
        else see(event, former?.level)
      },
      records: (events) => {
        alerts = beginAlerts?.()
        if (!alerts) return []
        const raised = alerts.raise(eventsIn(events).filter(({ origin }) => raiseAll || newOrigins.has(origin)))
        counts.alerts = raised.length
        counts.alertsNew = raised.filter(({ origin }) => newOrigins.has(origin)).length
        return raised.map(recordOf)
      },
      beside: (items) => {
        const all = items.flat()
        const tombstones = all.filter(({ incoming }) => incoming.value === null).length
        const deadLetters = all.filter(({ composed: { step } }) => step === 'dead_letter' || step === 'pointer').length
        const events = counts.events + tombstones
        sum = { ...emptyTally, ...counts, events, tombstones, deadLetters, verdicts, changes }
        sum = sending = addTallies(addTallies(sending, passed), sum)
        passed = emptyTally
        return sum
      },
      // Assign, do not add: the committed position may already have restored these counts.
      committed: () => {
        reached = sum
        alerts?.commit()
      },
      givenUp: () => {
        sending = reached
        alerts?.giveUp()
      },
    }
  }
  return {
    chunk,
    read: () => addTallies(reached, passed),
    restore: (committed) => {
      reached = sending = committed
      passed = emptyTally
    },
    pass: (more) => void (passed = addTallies(passed, { ...emptyTally, ...more })),
    begin: (some) => {
      sending = reached
      records.clear()
      for (const record of some) records.set(Number(record.readTo), record)
    },
  }
}
