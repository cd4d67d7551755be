// A replay: sends a range of a topic through the pipeline again, partitions in parallel, each from its last position.
import { createRateLimit, type RateLimit } from '../base/rate-limit.js'
import { cutBatches, eventCount } from '../delivery/chunks.js'
import { failureOf } from '../kafka/failure.js'
import type { TopicReader } from '../kafka/topic-reader.js'
import type { Former } from './former.js'
import type { ReplayRange } from './plan.js'
import { readRange, type RangeOptions } from './read-range.js'
import { openReplayTask, type ReplayTask, type ReplayTaskOptions } from './replay-task.js'
import type { Restored } from './restore.js'
import { emptyTally, type Tally } from './tally.js'

export type ReplayOptions = RangeOptions &
  ReplayTaskOptions & {
    readonly reader: TopicReader
    readonly former?: Former | undefined
    readonly eventsPerSecond?: number | undefined
    readonly moved: (progress: Progress) => void
  }

export type Progress = {
  /** Position and counts per partition, including earlier starts with the same id. */
  readonly partitions: ReadonlyMap<number, { readonly position: number; readonly tally: Tally }>
}

/** Records per delivery. */
const unitRecords = 2_000

/** Resolves when every range is complete or the signal is aborted. Throws `FatalKafkaError` with the message to exit with. */
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

type Moved = (position: number, tally: Tally) => void

const replayRange = async (
  options: ReplayOptions,
  range: ReplayRange,
  waitFor: RateLimit,
  moved: Moved,
): Promise<void> => {
  const { reader, emit } = options
  const task = openReplayTask(range, options)
  try {
    await task.claim()
    const start = task.position()
    moved(start, task.tally())
    await readRange(reader, options, { ...range, start }, deliverRead(task, options, waitFor, moved))
  } finally {
    await task
      .close()
      .catch((error: unknown) =>
        emit({ event: 'kafka_client_warned', about: 'replay', message: failureOf(error).message }),
      )
  }
}

/** Delivers a fetch in parts, and returns the offset to continue at. */
const deliverRead = (
  task: ReplayTask,
  { pipeline, former: formerOf, eventsPerSecond, signal }: ReplayOptions,
  waitFor: RateLimit,
  moved: Moved,
): Parameters<typeof readRange>[3] => {
  const step = eventsPerSecond === undefined ? unitRecords : Math.max(1, Math.floor(eventsPerSecond / 4))
  /** Cuts batches only to count their events. */
  const waitForAll = async (records: readonly Restored[]): Promise<void> => {
    if (eventsPerSecond === undefined) return
    const prepared = pipeline.prepare?.(records)
    if (prepared) await prepared
    await waitFor(eventCount(cutBatches(records, pipeline)))
  }
  return async (read, next, left) => {
    task.pass(left)
    for (let from = 0; from < read.length; from += step) {
      const unit = read.slice(from, from + step).map((record) => withFormer(record, formerOf))
      await waitForAll(unit)
      if (signal.aborted) return task.position()
      const reached = await task.deliver(unit)
      moved(reached, task.tally())
      if (reached <= Number(unit.at(-1)?.readTo)) return reached
    }
    moved(next, task.tally())
    return next
  }
}

const withFormer = (record: Restored, formerOf: Former | undefined): Restored => {
  const former = record.former ?? formerOf?.(record.partition, Number(record.offset))
  return former === record.former ? record : { ...record, former }
}
