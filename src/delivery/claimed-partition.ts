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
  /** Since the last join; absent if it is not ours. */
  assigned?: Assigned | undefined
  /** The generation since which nobody else had it. */
  since: number
  /** Of the topic that it was claimed in last. */
  topicId?: string | undefined
  /** Its transactions follow one another: the last one that was begun. */
  turn: Promise<unknown>
  /** Chunks of a transaction whose commit failed: the next claim shows whether it counted. */
  unsure?: { readonly generation: number; readonly last: string; readonly chunks: readonly Chunk[] } | undefined
}

export const newPartition = (): ClaimedPartition => ({ ...noRefusals(), since: 0, turn: Promise.resolve() })

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
  generation: number,
  claim: () => Promise<Claim>,
): Promise<Claim> => {
  if (partition.claim?.generation === generation) return partition.claim
  retire(partition)
  const claimed = await claim()
  partition.claim = claimed
  if (claimed.topicId !== partition.topicId) forgetAll(partition)
  partition.topicId = claimed.topicId
  decideUnsure(partition, claimed)
  return claimed
}

/**
 * A claim shows whether a commit whose answer was lost has counted. If somebody else had the partition in between, what is to follow is
 * read from the sightings topic instead.
 */
const decideUnsure = (partition: ClaimedPartition, { isCommitted, offset }: Claim): void => {
  const { unsure, since } = partition
  if (!unsure || !isCommitted || unsure.generation < since || offset <= Number(unsure.last)) {
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

/** It is assigned after a time in which others may have had it, or is not any more. A commit that is in progress is waited for. */
export const beginAnew = (partition: ClaimedPartition): void => {
  partition.turn = partition.turn.then(() => {
    giveUpUnsure(partition)
    forgetAll(partition)
  })
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
