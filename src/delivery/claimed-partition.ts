// An input partition on whose behalf this process writes under exactly-once: its claim, and its transactions one after the other.
import type { Kafka, Producer, Transaction } from '../kafka/client.js'
import type { Chunk } from './chunks.js'
import { forgetAll, noRefusals, type Refusals } from './refusals.js'
import type { Emit } from '../telemetry/event.js'
import type { KafkaSettings } from '../kafka/settings.js'
import type { StartingOffsets } from '../kafka/starting-offsets.js'
import { claimTransactions } from '../kafka/producers.js'
import type { Assigned } from '../kafka/fetched.js'

export type ClaimedPartition = Refusals & {
  claim?: Claim | undefined
  /** By the last join. */
  assigned: Assigned
  /** Of the topic that it was claimed in last. */
  topicId?: string | undefined
  /** Its transactions follow one another: the last one that was begun. */
  turn: Promise<unknown>
  /** Chunks of a transaction whose commit failed: the next claim shows whether it counted. */
  unsure?: { readonly last: string; readonly chunks: readonly Chunk[] } | undefined
  /** It is lost, or this process ends: what is in progress is the last that is written. */
  isClosed: boolean
}

export const newPartition = (assigned: Assigned): ClaimedPartition => ({
  ...noRefusals(),
  assigned,
  turn: Promise.resolve(),
  isClosed: false,
})

export const inTurn = <Result>(
  partition: Pick<ClaimedPartition, 'turn'>,
  task: () => Promise<Result>,
): Promise<Result> => {
  const mine = partition.turn.then(task)
  partition.turn = mine.catch(() => undefined) // whoever began it handles its failure
  return mine
}

/** If it fails, the claim ends with it: whoever is next in turn must not go on with the transaction, and commit a part of it. */
export const inTurnWithClaim = <Result>(
  partition: ClaimedPartition,
  owned: Claim,
  task: () => Promise<Result>,
): Promise<Result> =>
  inTurn(partition, async () => {
    try {
      return await task()
    } catch (error) {
      if (partition.claim === owned) retire(partition)
      throw error
    }
  })

/** Once per generation. Call in turn: no transaction of the partition is in progress. */
export const claimOnce = async (
  partition: ClaimedPartition,
  claim: (assigned: Assigned) => Promise<Claim>,
): Promise<Claim> => {
  const { assigned } = partition
  if (partition.claim?.generation === assigned.generation) return partition.claim
  // What others have closed by now would be missing from what is delivered.
  if (partition.isClosed) throw new Error(`${assigned.topic}/${assigned.partition} is not assigned any more`)
  retire(partition)
  const claimed = await claim(assigned)
  partition.claim = claimed
  if (claimed.topicId !== partition.topicId) forgetAll(partition)
  partition.topicId = claimed.topicId
  decideUnsure(partition, claimed)
  return claimed
}

/** A claim shows whether a commit whose answer was lost has counted. */
const decideUnsure = (partition: ClaimedPartition, { isCommitted, offset }: Claim): void => {
  const { unsure } = partition
  if (!unsure || !isCommitted || offset <= Number(unsure.last)) {
    giveUpUnsure(partition)
    return
  }
  partition.unsure = undefined
  for (const { listener } of unsure.chunks) listener?.committed()
}

const giveUpUnsure = (partition: ClaimedPartition): void => {
  const { unsure } = partition
  partition.unsure = undefined
  for (const { listener } of unsure?.chunks ?? []) listener?.givenUp?.()
}

/** A commit that is in progress is waited for. What is to follow from one that is not known is read from the sightings topic by the next owner. */
export const closePartition = (partition: ClaimedPartition): Promise<unknown> => {
  partition.isClosed = true
  return (partition.turn = partition.turn.then(() => {
    giveUpUnsure(partition)
    retire(partition)
  }))
}

export const retire = (partition: ClaimedPartition): void => {
  const old = partition.claim
  partition.claim = undefined
  if (old) discard(old.producer)
}

// Takes over a partition for exactly-once delivery: a new producer fences the previous one, and then the committed offset is final.

export type Claim = {
  readonly generation: number
  readonly producer: Producer
  transaction: Transaction
  hasDelivered: boolean
  /** Everything before it is committed, or deleted. */
  readonly offset: number
  /** Whether the group has committed it. */
  readonly isCommitted: boolean
  /** The id of the topic that it is in. */
  readonly topicId: string | undefined
}

/**
 * Done after every join and after every failure: what was in progress is dropped, a new producer fences the last
 * one and ends its transaction, and only then is the committed offset reliable. Membership is proved before and after: a process that
 * slept past its session must not fence the owner.
 */
export const claimPartition = async (
  assigned: Assigned,
  kafka: Kafka,
  {
    startingOffsets,
    settings,
    emit,
  }: { readonly startingOffsets: StartingOffsets; readonly settings: KafkaSettings; readonly emit: Emit },
): Promise<Claim> => {
  const { topic, partition, generation } = assigned
  await assigned.proveMembership()
  const { groupId, transactionalIdPrefix: prefix } = settings
  const { producer, transaction } = await claimTransactions(kafka, { prefix, groupId, topic, partition })
  try {
    await assigned.proveMembership()
    const { topicId, offsets, committed } = await startingOffsets(topic, [partition])
    const offset = offsets.get(partition) ?? '0'
    assigned.seek(offset)
    emit({ event: 'partition_claimed', topic, partition, offset })
    const isCommitted = committed.has(partition)
    return { generation, producer, transaction, hasDelivered: false, offset: Number(offset), isCommitted, topicId }
  } catch (error) {
    discard(producer)
    throw error
  }
}

/** It is not used again, however its disconnection ends. */
const discard = (producer: Producer): void => {
  producer.disconnect().catch(() => undefined)
}
