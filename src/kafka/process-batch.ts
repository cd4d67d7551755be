// One fetched batch: passed on for delivery with heartbeats running meanwhile, unless it cannot be read; then what was delivered is committed.
import type { Consumer, EachBatchPayload } from 'kafkajs'
import type { Emit } from '../telemetry/event.js'
import { commitDelivered, type CommitDelivered } from './commit-delivered.js'
import type { Incoming } from './compose.js'
import { FatalKafkaError } from './failure.js'
import type { Fetched } from './fetched.js'
import type { TopicIdentity } from './topic-identity.js'
import type { WireRecord } from './wire/record.js'

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
  readonly consumer: Consumer
  readonly handle: (fetched: Fetched) => Promise<void>
  readonly identity: TopicIdentity
  readonly shared: Shared
  readonly emit: Emit
  readonly fail: (sentence: string, needsOperator?: boolean) => void
  readonly heartbeatMs: number
  /** How many were answered. */
  heartbeats: number
  /** By a stop or a crash. */
  isStopped: boolean
}

export const processBatch = async (payload: EachBatchPayload, context: BatchContext): Promise<void> => {
  const { shared, identity, heartbeatMs, fail } = context
  const membership: Membership = { generation: shared.generation }
  const delivered = commitDelivered(payload, () => shared.generation === membership.generation)
  const timer = setInterval(() => void heartbeat(payload, membership), heartbeatMs)
  try {
    const topicId = await identity.current(payload.batch.topic)
    if (payload.isStale()) return
    await context.handle(fetchedOf(payload, context, membership, delivered, topicId))
    await delivered.commit()
  } catch (error) {
    if (error instanceof FatalKafkaError) fail(error.message, error.needsOperator)
    await delivered.commit().catch(() => undefined) // the first error matters more; what is not committed is read again
    throw error
  } finally {
    clearInterval(timer)
  }
  if (membership.lost !== undefined) throw membership.lost as Error
}

/** `lost`: the error of the first heartbeat that failed. */
type Membership = { readonly generation: number; lost?: unknown }

const heartbeat = async (payload: EachBatchPayload, membership: Membership): Promise<void> => {
  try {
    await payload.heartbeat()
  } catch (error) {
    membership.lost ??= error
  }
}

const fetchedOf = (
  payload: EachBatchPayload,
  context: BatchContext,
  membership: Membership,
  delivered: CommitDelivered,
  topicId: string | undefined,
): Fetched => {
  const { batch } = payload
  const { topic, partition } = batch
  const { consumer, shared } = context
  const name = `${topic}/${partition}`
  const messages = batch.messages as unknown as readonly WireRecord[]
  const [first] = messages
  if (first?.unreadable !== undefined) throw new FatalKafkaError(`${name}: ${first.unreadable}`)
  if (first) reportSkipped(first, topic, partition, context)
  return {
    topic,
    partition,
    name,
    records: messages.map((record) => incoming(record, topic, partition)),
    topicId,
    lag: Number(batch.offsetLag()),
    generation: membership.generation,
    goesOn: () =>
      payload.isRunning() &&
      membership.lost === undefined &&
      shared.generation === membership.generation &&
      !payload.isStale(),
    resolve: delivered.upTo,
    commit: delivered.commit,
    seek: (offset) => consumer.seek({ topic, partition, offset }),
    proveMembership: async () => {
      const before = context.heartbeats
      while (context.heartbeats === before) {
        if (membership.lost !== undefined) throw membership.lost as Error
        if (!payload.isRunning()) throw new Error('stopped')
        await heartbeat(payload, membership)
        if (context.heartbeats === before) await pause(50)
      }
    },
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

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
