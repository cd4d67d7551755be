// Exactly once: a fetched batch's output and its offsets are one transaction of the partition's own producer.
import { setTimeout as sleep } from 'node:timers/promises'
import { fitting, sendAttachmentsOrNote } from './attachments.js'
import { attachmentsOf, countEvents, splitBatch, startChunks, type Chunk, type ChunkOptions } from './chunks.js'
import {
  claimOnce,
  closePartition,
  inTurn,
  inTurnWithClaim,
  newPartition,
  retire,
  type ClaimedPartition,
  claimPartition,
  type Claim,
} from './claimed-partition.js'
import { metadataOf } from '../kafka/topic-identity.js'
import { split, splitByCountAndBytes } from './deliver.js'
import { failureOf, FatalKafkaError } from '../kafka/failure.js'
import type { PartitionProgress } from '../kafka/health.js'
import { type Fetched, nameOf, type Assigned } from '../kafka/fetched.js'
import type { Written, Delivery, DeliveryOptions } from './delivery.js'
import { sendTransaction } from '../kafka/producers.js'
import { forgetUpTo, sendOrNote } from './refusals.js'
import { recordBytes } from '../kafka/wire/encode-batch.js'
import { within } from '../kafka/within.js'
import type { Outgoing } from '../kafka/records.js'

/** Before a claim that failed is tried again. */
const againMs = 1_000

export const exactlyOnce = (options: DeliveryOptions): Delivery => {
  const { connect, settings, brokers, emit } = options
  // Another client than the consumer's: within one, offsets show as committed before their transaction is.
  const kafka = connect()
  return {
    joined: () => undefined,
    open: (first, progress) => {
      const partition = newPartition(first)
      const name = nameOf(first)
      const claim = (): Promise<Claim> => claimOnce(partition, (assigned) => claimPartition(assigned, kafka, options))
      /** Whether a commit has counted is known at the next claim. Events may come late or never: what follows from it does not wait for them. */
      const decide = async (assigned: Assigned): Promise<void> => {
        while (!partition.isClosed && partition.unsure && partition.assigned === assigned)
          await inTurn(partition, claim).catch((error: unknown) => {
            emit({ event: 'kafka_client_warned', about: name, message: failureOf(error).message })
            return sleep(againMs, undefined, { ref: false })
          })
      }
      return {
        deliver: async (fetched, state) => {
          if (partition.isClosed) return
          const { topic } = fetched
          const from = fetched.records[0]?.offset ?? ''
          const limited: Limited = async (task) => {
            progress.chunkBegan(brokers.reachableMs)
            return within(settings.limits.chunkDeadlineMs, `${name} from offset ${from} on`, task, brokers.reachableMs)
          }
          const owned = partition.claim
          try {
            const isOtherTopic = owned && fetched.topicId !== undefined && owned.topicId !== fetched.topicId
            if (owned?.generation === fetched.generation && !isOtherTopic)
              await deliverBatch(fetched, partition, owned, limited, { ...options, state, progress })
            // The batch is left: claiming sets the position to what is committed, and that is read next.
            else
              await limited(() =>
                inTurn(partition, () => {
                  if (isOtherTopic && partition.claim === owned) retire(partition)
                  return claim()
                }),
              )
          } catch (error) {
            // A batch that outlived its membership must not end the claim of the next one.
            if (partition.claim === owned) retire(partition)
            if (error instanceof FatalKafkaError) throw error
            const failure = failureOf(error)
            if (failure.kind === 'fatal')
              throw new FatalKafkaError(`Kafka refuses our output: ${failure.message}`, true)
            const cause = `${failure.name}: ${failure.message}`
            emit({ event: 'producer_replaced', topic, partition: fetched.partition, cause })
            // If another join came before the commit failed, it may bring no batch that decides.
            const { assigned } = partition
            if (assigned.generation !== fetched.generation) void decide(assigned)
            await sleep(200)
          } finally {
            progress.chunkEnded()
          }
        },
        write: (compose) =>
          inTurn(partition, async () => {
            if (partition.isClosed) return 'not_written'
            const owned = partition.claim ?? (await claim())
            const records = fitting(compose(), options.form)
            return records.length > 0 ? writeAlone(partition, owned, records, options) : 'written'
          }),
        claim: () => inTurn(partition, claim),
        kept: (assigned) => {
          partition.assigned = assigned
          void decide(assigned)
        },
        close: async () => {
          await closePartition(partition)
        },
      }
    },
    close: () => Promise.resolve(),
  }
}

/** Runs a task under the deadline of a chunk. */
type Limited = <Result>(task: () => Promise<Result>) => Promise<Result>

const deliverBatch = async (
  fetched: Fetched,
  partition: ClaimedPartition,
  owned: Claim,
  limited: Limited,
  {
    settings,
    pipeline,
    waitOf,
    form,
    emit,
    state,
    progress,
  }: DeliveryOptions & Pick<ChunkOptions, 'state'> & { readonly progress: PartitionProgress },
): Promise<void> => {
  const { chunkEvents, chunkBytes } = settings.limits
  const prepared = pipeline.prepare?.(fetched.records)
  if (prepared) await prepared
  const counted = countEvents(fetched, pipeline)
  const wait = waitOf(counted)
  const max = { count: chunkEvents, bytes: chunkBytes }
  const delivered = ({ last, count, oldestMs }: Committed): void => {
    forgetUpTo(last, partition)
    fetched.resolve(last)
    progress.moved(count, Number(last) + 1, counted.lag)
    const { topic } = fetched
    emit({ event: 'chunk_delivered', topic, partition: fetched.partition, events: count, oldestMs })
  }
  for (const records of splitBatch(counted.records, !owned.hasDelivered)) {
    const chunks = await startChunks(records, {
      pipeline,
      wait,
      form,
      max,
      refused: partition.refused,
      state,
      topicId: owned.topicId,
    })
    const areReady = async (): Promise<boolean> =>
      (await Promise.all(chunks.map(async ({ ready }) => ready))).every((isReady) => isReady)
    // Only the provider determines how long that takes, so it has no limit.
    if (wait.kind === 'complete' && !(await areReady())) return
    const isDelivered = await limited(async () => {
      // Everything is known before the first send of the transaction: it must not time out while a lookup is waited for.
      if (!(await areReady())) return false
      const committed = await inTurnWithClaim(partition, owned, () =>
        transact(fetched, chunks, partition, owned, { settings, form }),
      )
      if (committed) delivered(committed)
      owned.hasDelivered = true
      return committed !== undefined && fetched.goesOn()
    })
    progress.chunkEnded()
    if (!isDelivered) return
  }
}

type Committed = { readonly last: string; readonly count: number; readonly oldestMs: number }

/** One transaction, and the next one begun; nothing if the batch was to be left before its first send. */
const transact = async (
  fetched: Fetched,
  chunks: readonly Chunk[],
  partition: ClaimedPartition,
  owned: Claim,
  { settings, form }: Pick<DeliveryOptions, 'settings' | 'form'>,
): Promise<Committed | undefined> => {
  // What followed from earlier events may have failed meanwhile, and the claim with it.
  if (partition.claim !== owned) return undefined
  const send = sendTransaction(owned.transaction, settings.output.compression, form)
  let last: string | undefined
  let count = 0
  const sent: Chunk[] = []
  try {
    for (const chunk of chunks) {
      if (!fetched.goesOn()) break
      sent.push(chunk)
      for (const part of split(chunk.items.flat(), form.max)) await sendOrNote(part, partition, send)
      await sendAttachmentsOrNote(attachmentsOf(chunk, form), chunk.last, partition, send, form)
      last = chunk.last
      count += chunk.count
    }
    if (last === undefined) return undefined
    const position = {
      partition: fetched.partition,
      offset: String(Number(last) + 1),
      metadata: metadataOf(owned.topicId),
    }
    await owned.transaction.sendOffsets({
      consumerGroupId: settings.groupId,
      topics: [{ topic: fetched.topic, partitions: [position] }],
    })
  } catch (error) {
    for (const { listener } of sent) listener?.givenUp?.()
    throw error
  }
  partition.unsure = { last, chunks: sent }
  await owned.transaction.commit()
  partition.unsure = undefined
  for (const { listener } of sent) listener?.committed()
  owned.transaction = await owned.producer.transaction()
  return { last, count, oldestMs: form.now() - Number(chunks[0]?.records[0]?.timestamp) }
}

/** A transaction without offsets. The former owner of a partition cannot commit it: the next owner's claim has fenced its producer. */
const writeAlone = async (
  partition: ClaimedPartition,
  owned: Claim,
  records: readonly Outgoing[],
  { settings, form, emit }: DeliveryOptions,
): Promise<Written> => {
  const send = sendTransaction(owned.transaction, settings.output.compression, form)
  let written: Written = 'not_written'
  try {
    for (const part of splitByCountAndBytes(records, recordBytes, form.max)) await send(part)
    written = 'unsure'
    await owned.transaction.commit()
    written = 'written'
    owned.transaction = await owned.producer.transaction()
  } catch (error) {
    if (partition.claim === owned) retire(partition)
    const failure = failureOf(error)
    const { topic, partition: number } = partition.assigned
    emit({ event: 'producer_replaced', topic, partition: number, cause: `${failure.name}: ${failure.message}` })
    if (failure.kind === 'refused') return 'refused'
  }
  return written
}
