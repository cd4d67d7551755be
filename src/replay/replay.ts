// A replay: a range of a topic through the pipeline again, partitions in parallel, each from where it was left.
import { setTimeout as sleep } from 'node:timers/promises'
import { createRateLimit, type RateLimit } from '../base/rate-limit.js'
import type { Kafka } from '../kafka/client.js'
import type { Emit } from '../telemetry/event.js'
import { cutBatches, eventCount } from '../delivery/chunks.js'
import { forgetUpTo } from '../delivery/refusals.js'
import { isOfFormerTopic } from '../kafka/commit-metadata.js'
import { failureOf, FatalKafkaError } from '../kafka/failure.js'
import { deliverUnit, type UnitOptions } from './deliver-unit.js'
import { acknowledgedOutput, transactionalOutput } from './partition-output.js'
import type { Plan, ReplayRange } from './plan.js'
import { readRange, type RangeOptions } from './read-range.js'
import type { TopicReader } from '../kafka/topic-reader.js'
import { addTallies, decodeTally, emptyTally, type Tally } from './tally.js'

export type ReplayOptions = RangeOptions &
  Omit<UnitOptions, 'topicId'> & {
    readonly reader: TopicReader
    readonly kafka: Kafka
    readonly plan: Plan
    readonly eventsPerSecond?: number | undefined
    readonly moved: (progress: Progress) => void
    readonly emit: Emit
  }

export type Progress = {
  /** Per partition: how far, and what was counted, by earlier starts with the same id too. */
  readonly partitions: ReadonlyMap<number, { readonly position: number; readonly tally: Tally }>
}

/** In a row, each after a longer pause. */
export const maxFailures = 8
const unitEvents = 2_000

/** Resolves when every range is through or the signal is given. Throws `FatalKafkaError` with the message to exit with. */
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
  const waitFor = createRateLimit(options.eventsPerSecond, options.now, signal)
  const waiting = [...plan.ranges]
  const replayNext = async (): Promise<void> => {
    for (let range = waiting.shift(); range && !signal.aborted; range = waiting.shift()) {
      const { partition } = range
      await replayRange({ ...options, signal }, range, waitFor, (position, tally) => {
        partitions.set(partition, { position, tally })
        options.moved({ partitions })
      })
    }
  }
  try {
    const workers = Math.min(settings.limits.concurrentPartitions, waiting.length)
    await Promise.all(Array.from({ length: workers }, replayNext))
  } finally {
    stop.abort()
  }
  return { partitions }
}

const replayRange = async (
  options: ReplayOptions,
  range: ReplayRange,
  waitFor: RateLimit,
  moved: (position: number, tally: Tally) => void,
): Promise<void> => {
  const { reader, settings, plan, topic, emit, signal } = options
  const { partition } = range
  const make = settings.delivery === 'exactly-once' ? transactionalOutput : acknowledgedOutput
  const output = make({ ...options, groupId: plan.groupId, partition })
  let tally = emptyTally
  let position = range.start
  let failures = 0
  const claim = async (): Promise<number> => {
    for (;;)
      try {
        const found = await output.claim()
        const committed = found && isOfFormerTopic(found.metadata, plan.topicId) ? undefined : found
        position = Math.max(range.start, committed?.offset ?? range.start)
        tally = decodeTally(committed?.metadata ?? '')
        moved(position, tally)
        return position
      } catch (error) {
        await retryOrGiveUp(error)
      }
  }
  /** Gives up after so many failures in a row. */
  const retryOrGiveUp = async (error: unknown): Promise<void> => {
    const { name, message } = failureOf(error)
    if (error instanceof FatalKafkaError || ++failures > maxFailures)
      throw error instanceof FatalKafkaError
        ? error
        : new FatalKafkaError(`${topic}/${partition} cannot be replayed: ${message}`)
    emit({ event: 'producer_replaced', topic, partition, cause: `${name}: ${message}` })
    await sleep(100 * 2 ** failures)
  }
  const step = options.eventsPerSecond === undefined ? unitEvents : Math.max(1, Math.floor(options.eventsPerSecond / 4))
  const each: Parameters<typeof readRange>[3] = async (read, next, left) => {
    const prepared = options.pipeline.prepare?.(read)
    if (prepared) await prepared
    const records = cutBatches(read, options.pipeline)
    let before: Tally = { ...emptyTally, ...left }
    for (let from = 0; from === 0 || from < records.length; from += step) {
      const unit = records.slice(from, from + step)
      const isLast = from + step >= records.length
      if (unit.length === 0) {
        tally = addTallies(tally, before)
        position = next
        break
      }
      await waitFor(eventCount(unit))
      if (signal.aborted) return position
      const reached = isLast ? next : (unit.at(-1)?.at ?? next) + 1
      const { refused } = output.refusals
      const refusedBefore = refused.size
      try {
        const done = await deliverUnit(
          { ...options, topicId: plan.topicId },
          output,
          unit,
          partition,
          reached,
          addTallies(tally, before),
        )
        tally = done
        before = emptyTally
        position = reached
        failures = 0
        forgetUpTo(String(reached - 1), output.refusals)
      } catch (error) {
        // One more record is known to be refused: the next attempt comes further.
        if (refused.size > refusedBefore) failures = 0
        await retryOrGiveUp(error)
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
    await output
      .close()
      .catch((error: unknown) =>
        emit({ event: 'kafka_client_warned', about: 'replay', message: failureOf(error).message }),
      )
  }
}
