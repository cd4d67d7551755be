// A replay: a bounded stretch of a topic through the line again, partitions side by side, each from where it was left.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Kafka } from 'kafkajs'
import type { Level } from '../../domain/finding.js'
import type { EventOut, Pipeline } from '../../pipeline/pipeline.js'
import type { Tell } from '../../telemetry/event.js'
import type { Incoming, Outgoing } from '../compose.js'
import { composeChunk, type Deliver } from '../deliver.js'
import { failureOf, Hopeless } from '../failure.js'
import type { KafkaSettings } from '../settings.js'
import { startChunks } from '../work.js'
import type { Former } from './former.js'
import { acknowledgedOutput, transactionalOutput, type PartitionOutput } from './partition-output.js'
import type { Plan, Range } from './plan.js'
import type { Reader } from './reader.js'
import { restore, type InputKind, type Restored } from './restore.js'
import { addTallies, decodeTally, emptyTally, encodeTally, type Tally } from './tally.js'

export type RaisedAlert = { readonly origin: string; readonly value: Buffer }

export type Reading = {
  readonly topic: string
  readonly kind: InputKind
  /** The annotation's key. */
  readonly key: string
  /** Only events with a record time in it, where given: from, and up to but without. */
  readonly times?: readonly [from: number, to: number] | undefined
  readonly signal: AbortSignal
}

export type ReplayOptions = Reading & {
  readonly reader: Reader
  readonly kafka: Kafka
  readonly settings: KafkaSettings
  readonly plan: Plan
  readonly pipeline: Pipeline
  readonly how: Deliver
  readonly former?: Former | undefined
  /** The alerts of some events; absent where none are wanted. */
  readonly raise?: ((events: readonly EventOut[]) => readonly RaisedAlert[]) | undefined
  readonly alertsTopic?: { readonly topic: string; readonly partitions: number } | undefined
  /** Whether alerts are raised too for events whose verdict is what it was. */
  readonly raiseAll: boolean
  readonly eventsPerSecond?: number | undefined
  readonly moved: (progress: Progress) => void
  readonly tell: Tell
  readonly now: () => number
}

export type Progress = {
  /** Per partition: how far, and what was counted, by earlier starts with the same id too. */
  readonly partitions: ReadonlyMap<number, { readonly position: number; readonly tally: Tally }>
}

/** Fetches in a row that brought nothing although there is something; each waits a tenth of a second. */
const maxEmptyFetches = 300
const maxFailures = 8
const unitEvents = 2_000

/** Resolves when every range is through or the signal is given. Throws `Hopeless` with the sentence to end with. */
export const replay = async (options: ReplayOptions): Promise<Progress> => {
  const { plan, settings } = options
  const partitions = new Map(
    plan.ranges.map(({ partition, start }) => [
      partition,
      plan.reached.get(partition) ?? { position: start, tally: emptyTally },
    ]),
  )
  const stop = new AbortController()
  const signal = AbortSignal.any([options.signal, stop.signal])
  const pace = pacer(options.eventsPerSecond, options.now, signal)
  const waiting = [...plan.ranges]
  const work = async (): Promise<void> => {
    for (let range = waiting.shift(); range && !signal.aborted; range = waiting.shift())
      await replayRange({ ...options, signal }, range, pace, (position, tally) => {
        partitions.set(range?.partition ?? 0, { position, tally })
        options.moved({ partitions })
      })
  }
  try {
    const workers = Math.min(settings.limits.concurrentPartitions, waiting.length)
    await Promise.all(Array.from({ length: workers }, work))
  } finally {
    stop.abort()
  }
  return { partitions }
}

/** Only what stands in the range, as it was first read; calls back for every fetch. */
export const readRange = async (
  reader: Reader,
  reading: Reading,
  { partition, start, end }: Range,
  each: (records: readonly Restored[], next: number, left: Pick<Tally, 'pointers' | 'deleted'>) => Promise<number>,
): Promise<void> => {
  const { topic, kind, key, times, signal } = reading
  let empty = 0
  for (let at = start; at < end && !signal.aborted;) {
    const { records, next, deleted } = await reader.fetch(topic, partition, at)
    if (next === at && ++empty > maxEmptyFetches)
      throw new Hopeless(`${topic}/${partition} gives nothing from offset ${at} on, although it ends at ${end}`)
    if (next === at) continue
    empty = 0
    const restored: Restored[] = []
    let pointers = 0
    for (const record of records) {
      if (Number(record.offset) >= end) break
      const time = Number(record.timestamp)
      if (times && (time < times[0] || time >= times[1])) continue
      const incoming: Incoming = { ...record, topic, partition }
      const one = restore(incoming, kind, key)
      if (one) restored.push(one)
      else pointers++
    }
    at = await each(restored, Math.min(next, end), { pointers, deleted: Math.min(deleted, end - at) })
  }
}

type Pace = (events: number) => Promise<void>

const replayRange = async (
  options: ReplayOptions,
  range: Range,
  pace: Pace,
  moved: (position: number, tally: Tally) => void,
): Promise<void> => {
  const { reader, settings, plan, topic, tell, signal } = options
  const { partition } = range
  const make = settings.delivery === 'exactly-once' ? transactionalOutput : acknowledgedOutput
  const output = make({ ...options, groupId: plan.groupId, partition })
  let tally = emptyTally
  let position = range.start
  let failures = 0
  const claim = async (): Promise<number> => {
    for (;;)
      try {
        const committed = await output.claim()
        position = Math.max(range.start, committed?.offset ?? range.start)
        tally = decodeTally(committed?.metadata ?? '')
        return position
      } catch (error) {
        await bear(error)
      }
  }
  /** Gives up after so many failures in a row. */
  const bear = async (error: unknown): Promise<void> => {
    const { name, message } = failureOf(error)
    if (error instanceof Hopeless || ++failures > maxFailures)
      throw error instanceof Hopeless ? error : new Hopeless(`${topic}/${partition} cannot be replayed: ${message}`)
    tell({ event: 'producer_replaced', topic, partition, cause: `${name}: ${message}` })
    await sleep(100 * 2 ** failures)
  }
  const step = options.eventsPerSecond === undefined ? unitEvents : Math.max(1, Math.floor(options.eventsPerSecond / 4))
  const each: Parameters<typeof readRange>[3] = async (records, next, left) => {
    let before: Tally = { ...emptyTally, ...left }
    for (let from = 0; from === 0 || from < records.length; from += step) {
      const unit = records.slice(from, from + step)
      const isLast = from + step >= records.length
      if (unit.length === 0) {
        tally = addTallies(tally, before)
        position = next
        break
      }
      await pace(unit.length)
      if (signal.aborted) return position
      const reached = isLast ? next : (unit.at(-1)?.at ?? next) + 1
      try {
        const done = await deliverUnit(options, output, unit, partition, reached, addTallies(tally, before))
        tally = done
        before = emptyTally
        position = reached
        failures = 0
      } catch (error) {
        await bear(error)
        return claim()
      }
      moved(position, tally)
    }
    moved(position, tally)
    return position
  }
  try {
    await readRange(reader, options, { ...range, start: await claim() }, each)
  } finally {
    await output.close().catch((error: unknown) =>
      tell({ event: 'kafka_complained', about: 'replay', message: failureOf(error).message }),
    )
  }
}

const deliverUnit = async (
  options: ReplayOptions,
  output: PartitionOutput,
  unit: readonly Restored[],
  partition: number,
  next: number,
  before: Tally,
): Promise<Tally> => {
  const { pipeline, settings, how, now } = options
  const { chunkEvents, chunkBytes } = settings.limits
  const chunks = startChunks(unit, pipeline, false, { count: chunkEvents, bytes: chunkBytes })
  // All is known before the transaction begins: it must not time out while a lookup is waited for.
  const events = (await Promise.all(chunks.map(async (chunk) => chunk.events()))).flat()
  const items = composeChunk(unit, events, how, output.refusals.refused)
  const { tally, wanted } = examine(options, unit, events)
  const alerts = options.raise && options.alertsTopic ? options.raise(wanted.map(({ event }) => event)) : []
  const fresh = new Set(wanted.filter(({ isNew }) => isNew).map(({ event }) => event.origin))
  const reached = addTallies(before, {
    ...tally,
    deadLetters: items.filter(({ composed: { rung } }) => rung === 'dead_letter' || rung === 'pointer').length,
    alerts: alerts.length,
    alertsNew: alerts.filter(({ origin }) => fresh.has(origin)).length,
  })
  const beside = alerts.map(({ value }): Outgoing => {
    const { topic = '', partitions = 1 } = options.alertsTopic ?? {}
    return { topic, partition: partition % partitions, key: null, value, headers: [], timestamp: String(now()) }
  })
  await output.write(items, beside, { partition, offset: next, metadata: encodeTally(reached) })
  return reached
}

/** What changed against what was said before, and which events are asked for alerts. */
const examine = (
  { former, raiseAll }: ReplayOptions,
  unit: readonly Restored[],
  events: readonly (EventOut | undefined)[],
): { readonly tally: Tally; readonly wanted: readonly { readonly event: EventOut; readonly isNew: boolean }[] } => {
  const verdicts: Partial<Record<Level, number>> = {}
  const changes: Record<string, number> = {}
  const wanted: { readonly event: EventOut; readonly isNew: boolean }[] = []
  let tombstones = 0
  let compared = 0
  for (const [place, record] of unit.entries()) {
    const event = events[place]
    if (!event) {
      tombstones++
      continue
    }
    const { verdict } = event.annotation
    verdicts[verdict] = (verdicts[verdict] ?? 0) + 1
    const before = record.former ?? former?.(record.partition, Number(record.offset))
    if (before !== undefined) compared++
    const isChanged = before !== undefined && before !== verdict
    if (isChanged) changes[`${before}>${verdict}`] = (changes[`${before}>${verdict}`] ?? 0) + 1
    const isNew = before === undefined || isChanged
    if (isNew || raiseAll) wanted.push({ event, isNew })
  }
  return { tally: { ...emptyTally, events: unit.length, tombstones, verdicts, compared, changes }, wanted }
}

/** Events so many a second, over all partitions. */
const pacer = (eventsPerSecond: number | undefined, now: () => number, signal: AbortSignal): Pace => {
  let freeAt = now()
  return async (events) => {
    if (eventsPerSecond === undefined) return
    const at = Math.max(now(), freeAt)
    freeAt = at + (events / eventsPerSecond) * 1000
    const waitMs = at - now()
    if (waitMs > 0) await sleep(waitMs, undefined, { signal }).catch(() => undefined)
  }
}
