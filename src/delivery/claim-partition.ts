// Takes over a partition for exactly-once delivery: a new producer fences the previous one, and then the committed offset is final.
import type { Kafka, Producer, Transaction } from 'kafkajs'
import type { Emit } from '../telemetry/event.js'
import type { KafkaSettings } from '../kafka/settings.js'
import type { Assigned } from './delivery.js'
import type { StartingOffsets } from '../kafka/starting-offsets.js'
import { transactionalProducer } from '../kafka/transactional-producer.js'

export type Claim = {
  readonly generation: number
  readonly producer: Producer
  transaction: Transaction
  /** Everything before it is committed. */
  readonly offset: number
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
  const producer = transactionalProducer(kafka, { prefix, groupId, topic, partition })
  try {
    await producer.connect()
    const transaction = await producer.transaction()
    await assigned.proveMembership()
    const { topicId, offsets } = await startingOffsets(topic, [partition])
    const offset = offsets.get(partition) ?? '0'
    assigned.seek(offset)
    emit({ event: 'partition_claimed', topic, partition, offset })
    return { generation, producer, transaction, offset: Number(offset), topicId }
  } catch (error) {
    discard(producer)
    throw error
  }
}

/** It is not used again, however its disconnection ends. */
export const discard = (producer: Producer): void => {
  producer.disconnect().catch(() => undefined)
}
