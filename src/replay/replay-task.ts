// The task of a replayed partition: the delivery of `run` on a range, which nobody else is assigned, with counts for its state.
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
    /** For the alerts of one chunk. */
    readonly beginAlerts: () => ReplayAlerts
    /** Whether alerts are raised too for events whose verdict is what it was. */
    readonly raiseAll: boolean
    readonly signal: AbortSignal
  }

export type ReplayTask = {
  /** Resolves when nobody else writes the range: its position and counts are read then. Throws when it is given up. */
  readonly claim: () => Promise<void>
  /** Counts what was read and is not delivered. */
  readonly pass: (passed: Partial<Tally>) => void
  /** Delivers what was read next. Resolves with where to read on: again from an earlier position if it was left. */
  readonly deliver: (records: readonly Restored[]) => Promise<number>
  readonly position: () => number
  /** What was counted. */
  readonly tally: () => Tally
  readonly close: () => Promise<void>
}

/** In a row, each after a longer pause. */
export const maxFailures = 8
const commitEveryMs = 1_000
/** Of the only assignment that there is. */
const generation = 1

/** Whoever starts the same replay again takes it over: nobody is asked first. */
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
    // The next attempt sends it in another form, and comes further.
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
      // It is claimed before it is read on.
      unclaimed: () => undefined,
      // Nothing is written beside its events.
      opened: () => Promise.resolve(undefined),
    })
  /** Somebody else has come further, or the brokers have removed the position: it goes on from what is there now. */
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
      // A stop leaves the rest for the next start.
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

/** Another writer of the same replay took over, or the broker gave up our transaction. */
const fenced = new Set(['INVALID_PRODUCER_EPOCH', 'PRODUCER_FENCED', 'INVALID_PRODUCER_ID_MAPPING'])

/** Undefined for what may pass. */
export const fatalOf = (error: unknown, what: string): FatalKafkaError | undefined => {
  if (error instanceof FatalKafkaError) return error
  const { name, kind, message } = failureOf(error)
  if (fenced.has(name)) return new FatalKafkaError(`${what}: another process replays with the same --id`)
  return kind === 'fatal' ? new FatalKafkaError(`Kafka refuses our output: ${message}`) : undefined
}
