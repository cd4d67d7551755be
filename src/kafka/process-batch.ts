// Processes one fetched batch: delivers it with heartbeats running meanwhile, then commits the delivered part.
// It ends as soon as the group refuses this member, because only then does kafkajs join again.
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

/** State shared by successive consumers. */
export type Shared = {
  generation: number
  /** Member id of the last consumer that joined. */
  memberId?: string | undefined
  /** By `topic/partition`: the batch in progress. */
  readonly running: Map<string, Promise<void>>
  /** By `topic/partition`: the offset that the broker had deleted, until the next batch shows the new position. */
  readonly resets: Map<string, number>
}

export type BatchContext = {
  readonly seek: (partition: InputPartition, offset: string) => void
  readonly handle: (fetched: Fetched) => Promise<void>
  /** Called before a batch is handled: it was fetched from the topic with this id, or from a former one. */
  readonly topicIs: (topic: string, id: string) => void
  readonly identity: TopicIdentity
  readonly shared: Shared
  readonly emit: Emit
  readonly fail: (sentence: string, needsOperator?: boolean) => void
  readonly isTransactional: boolean
  readonly heartbeatMs: number
  /** Number of answered heartbeats. */
  heartbeats: number
  /** Sends a heartbeat, or waits for the one in flight; sends none during a join. */
  heartbeatNow: () => Promise<void>
  /** Of the last join. */
  membership: Membership
  /** By a stop or a crash. */
  isStopped: boolean
}

/** Thrown by waits of a membership that a later join has replaced. */
export class JoinedAgain extends Error {
  constructor() {
    super('joined again since')
  }
}

/** After a join, a batch of the earlier membership may still be in progress. The next batch of the partition waits for it. */
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
      .catch(() => undefined) // rethrown below, unless the membership was lost first
      .finally(() => running.delete(name))
    running.set(name, settled)
    await membership.orLost(processing)
    const lost = membership.lost()
    if (lost) throw lost
  } catch (error) {
    // Any other error would make kafkajs join once more.
    if (!(error instanceof JoinedAgain)) throw error
  } finally {
    clearInterval(timer)
  }
}

/** Pause while a topic is being created, before its batch is fetched again. */
const againMs = 50

const passOn = async (payload: EachBatchPayload, context: BatchContext, membership: Membership): Promise<void> => {
  const { shared, identity, fail } = context
  const delivered = commitDelivered(payload, () => shared.generation === membership.generation)
  try {
    const topicId = await identity.current(payload.batch.topic)
    if (payload.isStale()) return
    if (topicId === null) {
      await sleep(againMs)
      return // no offset is resolved, so the batch is fetched again
    }
    if (topicId !== undefined) context.topicIs(payload.batch.topic, topicId)
    await context.handle(fetchedOf(payload, context, membership, delivered))
    await delivered.commit()
  } catch (error) {
    if (error instanceof FatalKafkaError) fail(error.message, error.needsOperator)
    await delivered.commit().catch(() => undefined) // the first error matters more; uncommitted records are read again
    throw error
  }
}

/**
 * During a rebalance the group still accepts offsets. At-least-once therefore waits for sends in progress, to avoid duplicates. A
 * transaction needs no such wait: the next owner's claim aborts it, or reads the offsets that it committed.
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

/** Pause before a failed heartbeat is retried. */
const beatAgainMs = 50

/**
 * Waits for two answers. Only one heartbeat is in flight at a time, and the first answer may belong to one sent before this process was
 * suspended. The second was sent in this membership, after the call.
 */
export const proveMembership = async (context: BatchContext, membership: Membership): Promise<void> => {
  const enough = context.heartbeats + 2
  while (context.heartbeats < enough) {
    if (context.isStopped) throw new Error('stopped')
    const before = context.heartbeats
    // Ignore refusals here: the heartbeat of a batch or a fetch is refused as well, and then kafkajs joins again.
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

/**
 * Reports the records deleted before they were read. A topic that was created again begins before the old position, so nothing was
 * skipped.
 */
const reportSkipped = (first: WireRecord, topic: string, partition: number, { shared, emit }: BatchContext): void => {
  const name = `${topic}/${partition}`
  const count = Number(first.offset) - (shared.resets.get(name) ?? Infinity)
  shared.resets.delete(name)
  if (count > 0) emit({ event: 'offsets_skipped', topic, partition, count })
}

/** Lists the properties, because spreading every record costs more than the rest of this function. */
const incoming = (record: WireRecord, topic: string, partition: number): Incoming => ({
  topic,
  partition,
  offset: record.offset,
  timestamp: record.timestamp,
  key: record.key,
  value: record.value,
  headers: record.headers,
})
