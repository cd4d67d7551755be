// Some events of a partition through the pipeline to the output, with their alerts and counts.
import type { Level } from '../domain/finding.js'
import { eventsIn, type EventOut, type Pipeline } from '../pipeline/pipeline.js'
import { eventsOf } from '../delivery/chunks.js'
import { composeItem, type OutputForm } from '../delivery/deliver.js'
import type { KafkaSettings } from '../kafka/settings.js'
import type { Former } from './former.js'
import type { PartitionOutput } from './partition-output.js'
import type { Restored } from './restore.js'
import { addTallies, emptyTally, encodeTally, type Tally } from './tally.js'
import type { Outgoing } from '../kafka/records.js'

export type RaisedAlert = { readonly origin: string; readonly value: Buffer }

export type UnitOptions = {
  /** Of the topic that is replayed. */
  readonly topicId: string | undefined
  readonly settings: KafkaSettings
  readonly pipeline: Pipeline
  readonly form: OutputForm
  readonly former?: Former | undefined
  /** The alerts of some events; absent where none are wanted. */
  readonly raise?: ((events: readonly EventOut[]) => readonly RaisedAlert[]) | undefined
  readonly alertsTopic?: { readonly topic: string; readonly partitions: number } | undefined
  /** Whether alerts are raised too for events whose verdict is what it was. */
  readonly raiseAll: boolean
  readonly now: () => number
}

/** What was counted in all, once it is delivered. */
export const deliverUnit = async (
  options: UnitOptions,
  output: PartitionOutput,
  read: readonly Restored[],
  partition: number,
  next: number,
  before: Tally,
): Promise<Tally> => {
  const unit = read.map((record) => withFormer(record, options.former))
  const { pipeline, form, now } = options
  // Everything is known before the transaction begins: it must not time out while a lookup is waited for.
  const events = await eventsOf(unit, pipeline)
  const items = unit.flatMap((one, place) => composeItem(one, events[place], form, now(), output.refusals.refused))
  const { tally, wanted } = examine(options, unit, events)
  const alerts = options.raise && options.alertsTopic ? options.raise(wanted.map(({ event }) => event)) : []
  const fresh = new Set(wanted.filter(({ isNew }) => isNew).map(({ event }) => event.origin))
  const reached = addTallies(before, {
    ...tally,
    deadLetters: items.filter(({ composed: { step } }) => step === 'dead_letter' || step === 'pointer').length,
    alerts: alerts.length,
    alertsNew: alerts.filter(({ origin }) => fresh.has(origin)).length,
  })
  const alertRecords = alerts.map(({ value }): Outgoing => {
    const { topic = '', partitions = 1 } = options.alertsTopic ?? {}
    return { topic, partition: partition % partitions, key: null, value, headers: [], timestamp: String(now()) }
  })
  const position = { partition, offset: next, metadata: encodeTally(reached, options.topicId) }
  await output.write(items, alertRecords, position, (record) => events[unit.indexOf(record as Restored)])
  return reached
}

const withFormer = (record: Restored, formerOf: Former | undefined): Restored => {
  const former = record.former ?? formerOf?.(record.partition, Number(record.offset))
  return former === record.former ? record : { ...record, former }
}

/** What changed against the former verdicts, and for which events alerts are raised. */
const examine = (
  { raiseAll }: UnitOptions,
  unit: readonly Restored[],
  events: readonly (EventOut | undefined)[],
): { readonly tally: Tally; readonly wanted: readonly { readonly event: EventOut; readonly isNew: boolean }[] } => {
  const verdicts: Partial<Record<Level, number>> = {}
  const changes: Record<string, number> = {}
  const wanted: { readonly event: EventOut; readonly isNew: boolean }[] = []
  let tombstones = 0
  let compared = 0
  let stood = 0
  let count = 0
  const examineOne = (event: EventOut, before: Level | undefined): void => {
    const { verdict } = event
    if (before !== undefined) compared++
    if (event.judged.some((judged) => judged.verdict.former) && event.annotation.former) stood++
    const isChanged = before !== undefined && before !== verdict
    if (isChanged) changes[`${before}>${verdict}`] = (changes[`${before}>${verdict}`] ?? 0) + 1
    const isNew = before === undefined || isChanged
    for (const one of eventsIn([event])) {
      verdicts[one.verdict] = (verdicts[one.verdict] ?? 0) + 1
      count++
      if (isNew || raiseAll) wanted.push({ event: one, isNew })
    }
  }
  for (const [place, { former, formers }] of unit.entries()) {
    const event = events[place]
    if (!event) tombstones++
    else if (event.members && formers)
      for (const [nth, member] of event.members.entries()) examineOne(member, formers[nth]?.level)
    else examineOne(event, former?.level)
  }
  const tally = { ...emptyTally, events: count + tombstones, tombstones, verdicts, compared, stood, changes }
  return { tally, wanted }
}
