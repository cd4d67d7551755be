// Writes the output of one replayed partition and how far the replay has come: one after the other, or both in one transaction.
import type { Kafka, Producer, Transaction } from '../kafka/client.js'
import { deliver, split, type Again, type OutputForm, type Item } from '../delivery/deliver.js'
import { sendAttachments, sendAttachmentsOrNote } from '../delivery/attachments.js'
import { noRefusals, sendOrNote, type Refusals } from '../delivery/refusals.js'
import { failureOf, FatalKafkaError } from '../kafka/failure.js'
import { openIdempotentSender, sendTransaction, claimTransactions } from '../kafka/producers.js'
import type { KafkaSettings } from '../kafka/settings.js'
import type { Position, TopicReader } from '../kafka/topic-reader.js'
import type { Outgoing } from '../kafka/records.js'

export type PartitionOutput = {
  /** Fences the process that wrote before, and resolves with how far that came. */
  readonly claim: () => Promise<Position | undefined>
  /** Throws when it failed; then it has to be claimed again. */
  readonly write: (
    items: readonly Item[],
    alerts: readonly Outgoing[],
    reached: Position,
    again: Again,
  ) => Promise<void>
  readonly refusals: Refusals
  readonly close: () => Promise<void>
}

type OutputOptions = {
  readonly kafka: Kafka
  readonly reader: TopicReader
  readonly settings: KafkaSettings
  readonly form: OutputForm
  readonly groupId: string
  readonly topic: string
  readonly partition: number
  readonly now: () => number
}

const commitEveryMs = 1_000

/** What was written since the last commit is written again after a kill. */
export const acknowledgedOutput = (options: OutputOptions): PartitionOutput => {
  const { kafka, reader, settings, form, groupId, topic, partition, now } = options
  const sender = openIdempotentSender(
    kafka,
    settings.output.compression,
    (_records, cause) => form.emit({ event: 'producer_replaced', topic, partition, cause }),
    undefined,
    form,
  )
  let reached: Position | undefined
  let committedAt = now()
  const commit = async (): Promise<void> => {
    if (reached) await reader.commit(groupId, topic, [reached])
    reached = undefined
    committedAt = now()
  }
  return {
    refusals: noRefusals(),
    claim: async () => (await reader.committed(groupId, topic)).find((one) => one.partition === partition),
    write: async (items, alerts, position, again) => {
      await sendAttachments(alerts, sender.send, form)
      await deliver(items, sender.send, form, again)
      reached = position
      if (now() - committedAt >= commitEveryMs) await commit()
    },
    close: async () => {
      await commit()
      await sender.close()
    },
  }
}

/** Another writer of the same replay took over, or the broker gave up our transaction. */
const fenced = new Set(['INVALID_PRODUCER_EPOCH', 'PRODUCER_FENCED', 'INVALID_PRODUCER_ID_MAPPING'])

const fatalOf = (error: unknown, what: string): unknown => {
  if (error instanceof FatalKafkaError) return error
  const { name, kind, message } = failureOf(error)
  if (fenced.has(name)) return new FatalKafkaError(`${what}: another process replays with the same --id`)
  return kind === 'fatal' ? new FatalKafkaError(`Kafka refuses our output: ${message}`) : error
}

export const transactionalOutput = (options: OutputOptions): PartitionOutput => {
  const { kafka, reader, settings, form, groupId, topic, partition } = options
  const refusals: Refusals = noRefusals()
  let producer: Producer | undefined
  let transaction: Transaction | undefined
  const leave = (): void => {
    const old = producer
    producer = undefined
    transaction = undefined
    old?.disconnect().catch(() => undefined) // it is not used again, however that ends
  }
  const attempt = async <T>(task: () => Promise<T>): Promise<T> => {
    try {
      return await task()
    } catch (error) {
      leave()
      throw fatalOf(error, `${topic}/${partition}`)
    }
  }
  return {
    refusals,
    claim: () =>
      attempt(async () => {
        leave()
        const prefix = settings.transactionalIdPrefix
        // The committed offset is reliable only after the last writer's transaction has ended.
        ;({ producer, transaction } = await claimTransactions(kafka, { prefix, groupId, topic, partition }))
        return await reader.settled(groupId, topic, partition)
      }),
    write: (items, alerts, reached) =>
      attempt(async () => {
        const current = transaction
        if (!current || !producer) throw new Error('not claimed')
        const send = sendTransaction(current, settings.output.compression, form)
        for (const part of split(items, form.max)) await sendOrNote(part, refusals, send)
        await sendAttachmentsOrNote(alerts, String(reached.offset - 1), refusals, send, form)
        await current.sendOffsets({
          consumerGroupId: groupId,
          topics: [{ topic, partitions: [{ ...reached, offset: String(reached.offset) }] }],
        })
        await current.commit()
        transaction = undefined
        transaction = await producer.transaction()
      }),
    close: async () => {
      await producer?.disconnect()
    },
  }
}

/** Hands out a commit that fails if another process has come here since. */
export const withClaimedCommit = async <T>(
  { kafka, settings, groupId, topic }: Pick<OutputOptions, 'kafka' | 'settings' | 'groupId' | 'topic'>,
  task: (commit: TopicReader['commit']) => Promise<T>,
): Promise<T> => {
  const prefix = settings.transactionalIdPrefix
  const claiming = claimTransactions(kafka, { prefix, groupId, topic, partition: 0 })
  const { producer, transaction } = await claiming.catch((error: unknown) => {
    throw fatalOf(error, topic)
  })
  try {
    return await task(async (consumerGroupId, ofTopic, positions) => {
      const partitions = positions.map((position) => ({ ...position, offset: String(position.offset) }))
      await transaction.sendOffsets({ consumerGroupId, topics: [{ topic: ofTopic, partitions }] })
      await transaction.commit()
    })
  } catch (error) {
    throw fatalOf(error, topic)
  } finally {
    producer.disconnect().catch(() => undefined) // it is not used again, however that ends
  }
}
