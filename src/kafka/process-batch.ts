// One fetched batch: passed on for delivery with heartbeats running meanwhile, unless it cannot be read; then what was delivered is committed.
// It ends as soon as the group refuses us, for only then does kafkajs join again.
import { setTimeout as sleep } from 'node:timers/promises'
import type { EachBatchPayload } from 'kafkajs'
import type { Emit } from '../telemetry/event.js'
import { commitDelivered, type CommitDelivered } from './commit-delivered.js'
import { FatalKafkaError } from './failure.js'
import type { Fetched, InputPartition } from './fetched.js'
import type { Membership } from './membership.js'
import type { TopicIdentity } from './topic-identity.js'
import type { WireRecord } from './wire/record.js'
import type { Incoming } from './records.js'

/** What outlives a consumer. */
export type Shared = {
  generation: number
  /** Of the last consumer that joined. */
  memberId?: string | undefined
  /** By `topic/partition`: the batch that is in progress. */
  readonly running: Map<string, Promise<void>>
  /** By `topic/partition`: the offset that the broker no longer had, until the next batch shows where reading goes on. */
  readonly resets: Map<string, number>
}

export type BatchContext = {
  readonly seek: (partition: InputPartition, offset: string) => void
  readonly handle: (fetched: Fetched) => Promise<void>
  /** Told before a batch is handled: it was fetched in the topic with this id, or in a former one. */
  readonly topicIs: (topic: string, id: string) => void
  readonly identity: TopicIdentity
  readonly shared: Shared
  readonly emit: Emit
  readonly fail: (sentence: string, needsOperator?: boolean) => void
  readonly isTransactional: boolean
  readonly heartbeatMs: number
  /** How many were answered. */
  heartbeats: number
  /** Sends one, or waits for the one that is on its way; none while a join is in progress. */
  heartbeatNow: () => Promise<void>
  /** Since the last join. */
  membership: Membership
  /** By a stop or a crash. */
  isStopped: boolean
}

/** Thrown by waits of a membership that another join has replaced. */
export class JoinedAgain extends Error {
  constructor() {
    super('joined again since')
  }
}

/** After a join a batch of the former membership may still be in progress: the partition's next one waits for it. */
export const processBatch = async (payload: EachBatchPayload, context: BatchContext): Promise<void> => {
  const { topic, partition } = payload.batch
  const { running } = context.shared
  const { membership } = context
  const name = `${topic}/${partition}`
  const timer = setInterval(() => void heartbeat(payload, context, membership), context.heartbeatMs)
  try {
    for (let former = running.get(name); former; former = running.get(name)) await membership.orLost(former)
    const processing = passOn(payload, context, membership)
    const settled = processing
      .catch(() => undefined) // thrown below, unless the membership was lost before, and then there is nobody left to tell
      .finally(() => running.delete(name))
    running.set(name, settled)
    await membership.orLost(processing)
    const lost = membership.lost()
    if (lost) throw lost
  } catch (error) {
    // Another error would make kafkajs join once more.
    if (!(error instanceof JoinedAgain)) throw error
  } finally {
    clearInterval(timer)
  }
}

/** Before a batch of a topic that is just being created is fetched again. */
const againMs = 50

const passOn = async (payload: EachBatchPayload, context: BatchContext, membership: Membership): Promise<void> => {
  const { shared, identity, fail } = context
  const delivered = commitDelivered(payload, () => shared.generation === membership.generation)
  try {
    const topicId = await identity.current(payload.batch.topic)
    if (payload.isStale()) return
    if (topicId === null) {
      await sleep(againMs)
      return // nothing of it is resolved, so it is fetched again
    }
    if (topicId !== undefined) context.topicIs(payload.batch.topic, topicId)
    await context.handle(fetchedOf(payload, context, membership, delivered))
    await delivered.commit()
  } catch (error) {
    if (error instanceof FatalKafkaError) fail(error.message, error.needsOperator)
    await delivered.commit().catch(() => undefined) // the first error matters more; what is not committed is read again
    throw error
  }
}

/**
 * While the group rebalances it still takes offsets: at least once, what is being sent is waited for, so that it is not sent again. A
 * transaction needs no such wait; the next owner's claim ends it, or reads the offsets that it has committed.
 */
const heartbeat = async (
  payload: EachBatchPayload,
  { isTransactional }: BatchContext,
  membership: Membership,
): Promise<void> => {
  try {
    await payload.heartbeat()
  } catch (error) {
    const isRebalance = (error as { readonly type?: string }).type === 'REBALANCE_IN_PROGRESS'
    if (isRebalance && !isTransactional) membership.yieldSoon(error as Error)
    else membership.lose(error as Error)
  }
}

/** Before a heartbeat that could not be sent, or was not answered, is tried again. */
const beatAgainMs = 50

/**
 * One is on its way at a time, and the first that is answered may have been sent before a sleep of this process: the second was sent in this
 * membership and since the call.
 */
export const proveMembership = async (context: BatchContext, membership: Membership): Promise<void> => {
  const enough = context.heartbeats + 2
  while (context.heartbeats < enough) {
    if (context.isStopped) throw new Error('stopped')
    const before = context.heartbeats
    // What is refused proves nothing: the heartbeat of a batch or a fetch is refused as well, and then kafkajs joins again.
    await membership.orLost(context.heartbeatNow().catch(() => undefined))
    if (context.heartbeats === before) await membership.orLost(sleep(beatAgainMs))
  }
}

const fetchedOf = (
  payload: EachBatchPayload,
  context: BatchContext,
  membership: Membership,
  delivered: CommitDelivered,
): Fetched => {
  const { batch } = payload
  const { topic, partition } = batch
  const name = `${topic}/${partition}`
  const messages = batch.messages as unknown as readonly WireRecord[]
  const [first] = messages
  if (first?.unreadable !== undefined) throw new FatalKafkaError(`${name}: ${first.unreadable}`)
  const isReset = context.shared.resets.has(name)
  if (first) reportSkipped(first, topic, partition, context)
  return {
    topic,
    partition,
    name,
    records: messages.map((record) => incoming(record, topic, partition)),
    isReset,
    lag: Number(batch.offsetLag()),
    generation: membership.generation,
    goesOn: () => payload.isRunning() && membership.lost() === undefined && !payload.isStale(),
    resolve: delivered.upTo,
    commit: delivered.commit,
  }
}

/** A topic that was created again begins before the old position: nothing was skipped, and that is reported as what it is. */
const reportSkipped = (first: WireRecord, topic: string, partition: number, { shared, emit }: BatchContext): void => {
  const name = `${topic}/${partition}`
  const count = Number(first.offset) - (shared.resets.get(name) ?? Infinity)
  shared.resets.delete(name)
  if (count > 0) emit({ event: 'offsets_skipped', topic, partition, count })
}

/** Written out: spreading every record costs more than everything else here. */
const incoming = (record: WireRecord, topic: string, partition: number): Incoming => ({
  topic,
  partition,
  offset: record.offset,
  timestamp: record.timestamp,
  key: record.key,
  value: record.value,
  headers: record.headers,
})
