// The task of a replayed partition: delivers a range as `run` does, without a group assignment, and keeps counts as its state.
import { setTimeout as sleep } from 'node:timers/promises'
import { atLeastOnce } from '../delivery/acknowledged.js'
import { alertRecord } from '../delivery/compose.js'
import { deliverTo, type OutputContext } from '../delivery/deliver-to.js'
import type { DeliveryOptions, PartitionDelivery } from '../delivery/delivery.js'
import { exactlyOnce } from '../delivery/exactly-once.js'
import { isOfFormerTopic } from '../kafka/commit-metadata.js'
import { failureOf, FatalKafkaError } from '../kafka/failure.js'
import type { Assigned, Fetched, InputPartition } from '../kafka/fetched.js'
import type { StartingOffsets } from '../kafka/starting-offsets.js'
import type { Position, TopicReader } from '../kafka/topic-reader.js'
import type { Topics } from '../kafka/topics.js'
import { openReplayState, type ReplayAlerts } from './replay-state.js'
import type { Plan, ReplayRange } from './plan.js'
import type { Restored } from './restore.js'
import { decodeTally, type Tally } from './tally.js'

export type ReplayTaskOptions = Pick<DeliveryOptions, 'connect' | 'pipeline' | 'emit'> &
  OutputContext & {
    readonly reader: Pick<TopicReader, 'settled' | 'commit'>
    readonly topic: string
    readonly plan: Plan
    readonly topics: Pick<Topics, 'facts'>
    /** Which events wait for answers, and how long. */
    readonly wait: ReturnType<DeliveryOptions['waitOf']>
    /** Opens the alerts of one chunk. */
    readonly beginAlerts: () => ReplayAlerts
    /** Whether to raise alerts for events with an unchanged verdict too. */
    readonly raiseAll: boolean
    readonly signal: AbortSignal
  }

export type ReplayTask = {
  /**
   * Claims the range, then reads its position and counts. Resolves once no other process writes the range. Throws when the task gives up.
   */
  readonly claim: () => Promise<void>
  /** Counts records that are read but not delivered. */
  readonly pass: (passed: Partial<Tally>) => void
  /** Delivers records. Resolves with the offset to continue at, which is an earlier one if a batch was left. */
  readonly deliver: (records: readonly Restored[]) => Promise<number>
  readonly position: () => number
  /** The counts so far. */
  readonly tally: () => Tally
  readonly close: () => Promise<void>
}

/** Consecutive failures, each followed by a longer pause. */
export const maxFailures = 8
const commitEveryMs = 1_000
/** The generation of the only assignment. */
const generation = 1

/** A fixed assignment. A second start of the same replay takes it over without coordination. */
export const alone = (partition: InputPartition, seek: Assigned['seek'] = () => undefined): Assigned => ({
  ...partition,
  generation,
  seek,
  pause: () => undefined,
  resume: () => undefined,
  isMember: () => true,
  proveMembership: () => Promise.resolve(),
})

export const openReplayTask = (range: ReplayRange, options: ReplayTaskOptions): ReplayTask => {
  const { topic, plan, reader, settings, pipeline, wait, topics, emit, now, signal } = options
  const { partition } = range
  const { groupId } = settings
  const name = `${topic}/${partition}`
  const { alertsTopic = '' } = settings
  const alertPartitions = topics.facts.get(alertsTopic)?.partitions ?? 1
  const state = openReplayState({
    beginAlerts: alertsTopic === '' ? undefined : options.beginAlerts,
    recordOf: (alert) => alertRecord(alertsTopic, alertPartitions, alert, now()),
    raiseAll: options.raiseAll,
  })
  let position = range.start
  let failures = 0
  let uncommitted: Position | undefined
  let committedAt = now()

  const startingOffsets: StartingOffsets = async () => {
    const found = await reader.settled(groupId, topic, partition)
    const committed = found && !isOfFormerTopic(found.metadata, plan.topicId) ? found : undefined
    state.restore(decodeTally(committed?.metadata ?? ''))
    const offset = String(Math.max(range.start, committed?.offset ?? range.start))
    const commit = committed && { offset: String(committed.offset), metadata: committed.metadata }
    return {
      topicId: plan.topicId,
      offsets: new Map([[partition, offset]]),
      committed: new Map(commit && [[partition, commit]]),
      former: new Set(),
    }
  }
  const assigned = alone({ topic, partition }, (offset) => {
    position = Number(offset)
  })
  const commit = async (): Promise<void> => {
    committedAt = now()
    const reached = uncommitted
    uncommitted = undefined
    if (reached) await reader.commit(groupId, topic, [reached])
  }

  const make = settings.delivery === 'exactly-once' ? exactlyOnce : atLeastOnce
  const delivery = make({
    connect: options.connect,
    startingOffsets,
    settings,
    pipeline,
    waitOf: () => wait,
    form: deliverTo(options, topics),
    brokers: { reachableMs: now },
    emit,
    fail: () => undefined,
  })
  const pause = async (error: unknown): Promise<void> => {
    const fatal = fatalOf(error, name)
    if (fatal) throw fatal
    const { kind, message } = failureOf(error)
    // The next attempt sends the refused record in another form and makes progress.
    if (kind === 'refused') failures = 0
    if (++failures > maxFailures) throw new FatalKafkaError(`${name} cannot be replayed: ${message}`)
    await sleep(100 * 2 ** failures)
  }
  let failure: unknown
  const open = (): PartitionDelivery =>
    delivery.open(assigned, {
      progress: untold,
      takenOver,
      failed: (error) => {
        failure = error
      },
      // `claim` runs before the next read.
      unclaimed: () => undefined,
      // The replay writes only chunks, so no write waits for an opening.
      opened: () => Promise.resolve(undefined),
    })
  /** Another start has committed further, or the brokers have removed the position. Continue from the position that is committed now. */
  const takenOver = (): void => {
    void task.close('lost')
    task = open()
  }
  let task = open()

  const claim = async (): Promise<void> => {
    for (;;)
      try {
        await task.claim()
        return
      } catch (error) {
        const { name: code, message } = failureOf(error)
        if (signal.aborted) return
        emit({ event: 'producer_replaced', topic, partition, cause: `${code}: ${message}` })
        await pause(error)
      }
  }
  const fetched = (records: readonly Restored[]): Fetched => ({
    topic,
    partition,
    name,
    records,
    isReset: false,
    lag: 0,
    generation,
    goesOn: () => !signal.aborted,
    resolve: (last, metadata) => {
      failures = 0
      position = Number(last) + 1
      if (metadata !== undefined) uncommitted = { partition, offset: position, metadata }
    },
    commit,
  })
  return {
    claim,
    position: () => position,
    tally: state.read,
    pass: state.pass,
    deliver: async (records) => {
      state.begin(records)
      failure = undefined
      await task.deliver(fetched(records), state)
      if (failure) await pause(failure)
      // A stop leaves the rest to the next start.
      if (!signal.aborted && position <= Number(records.at(-1)?.readTo)) await claim()
      if (now() - committedAt >= commitEveryMs) await commit()
      return position
    },
    close: async () => {
      try {
        await commit()
      } finally {
        await task.close('lost')
        await delivery.close()
      }
    },
  }
}

const untold = {
  chunkBegan: () => undefined,
  chunkEnded: () => undefined,
  moved: () => undefined,
  close: () => undefined,
}

/** Another start of the same replay took over, or the broker aborted our transaction. */
const fenced = new Set(['INVALID_PRODUCER_EPOCH', 'PRODUCER_FENCED', 'INVALID_PRODUCER_ID_MAPPING'])

/** Undefined for an error that may be temporary. */
export const fatalOf = (error: unknown, what: string): FatalKafkaError | undefined => {
  if (error instanceof FatalKafkaError) return error
  const { name, kind, message } = failureOf(error)
  if (fenced.has(name)) return new FatalKafkaError(`${what}: another process replays with the same --id`)
  return kind === 'fatal' ? new FatalKafkaError(`Kafka refuses our output: ${message}`) : undefined
}
