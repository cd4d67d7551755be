// Exactly-once delivery: the output of a fetched batch and its offsets form one transaction of the partition's own producer.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { fitting, sendAttachmentsOrNote } from './attachments.js'
import { attachmentsOf, countEvents, splitBatch, startChunks, type Chunk, type ChunkOptions } from './chunks.js'
import { split, splitByCountAndBytes } from './deliver.js'
import type { Beside } from '../kafka/commit-metadata.js'
import { failureOf, FatalKafkaError } from '../kafka/failure.js'
import type { Fetched } from '../kafka/fetched.js'
import type { Delivery, DeliveryOptions, PartitionDelivery, PartitionEvents, Written } from './delivery.js'
import { openTransactions, type Claim, type PartitionTransactions } from './partition-transactions.js'
import { forgetUpTo, sendOrNote } from './refusals.js'
import { recordBytes } from '../kafka/wire/encode-batch.js'
import { within } from '../kafka/within.js'
import type { Outgoing } from '../kafka/records.js'

export const exactlyOnce = (options: DeliveryOptions): Delivery => {
  // Separate from the consumer's client: a client counts offsets of its own open transactions as committed.
  const kafka = options.connect()
  const owner = randomUUID()
  return {
    open: (assigned, { progress, takenOver, readIn, unclaimed, opened, failed }) => {
      const transactions = openTransactions(assigned, {
        ...options,
        now: options.form.now,
        kafka,
        owner,
        takenOver,
        readIn,
        unclaimed,
      })
      return {
        deliver: (fetched, state) => deliverOrReplace(fetched, transactions, { ...options, state, progress, failed }),
        write: (compose) => writeAlone(compose, transactions, { ...options, opened }),
        claim: () => transactions.inTurn(transactions.claim),
        kept: transactions.kept,
        close: transactions.close,
      }
    },
    close: () => Promise.resolve(),
  }
}

type BatchOptions = DeliveryOptions & Pick<ChunkOptions, 'state'> & Pick<PartitionEvents, 'progress' | 'failed'>

/** Delay before a failed write is composed again. */
const againMs = 1_000

/** Runs a task under the chunk deadline. */
type Limited = <Result>(task: () => Promise<Result>) => Promise<Result>

/** After a failure it leaves the batch. The next batch is read from the committed offset. */
const deliverOrReplace = async (
  fetched: Fetched,
  transactions: PartitionTransactions,
  options: BatchOptions,
): Promise<void> => {
  transactions.happens('fetched')
  if (transactions.isClosed()) return
  const { settings, brokers, progress, failed, emit } = options
  const { topic, partition } = fetched
  const from = fetched.records[0]?.offset ?? ''
  const limited: Limited = async (task) => {
    progress.chunkBegan(brokers.reachableMs)
    const what = `${transactions.name} from offset ${from} on`
    return within(settings.limits.chunkDeadlineMs, what, task, brokers.reachableMs)
  }
  const owned = transactions.current()
  // Leave the batch: the next claim resets the position to the committed offset.
  if (owned?.generation !== fetched.generation) return
  try {
    await deliverBatch(fetched, transactions, owned, limited, options)
  } catch (error) {
    transactions.leave(owned)
    if (error instanceof FatalKafkaError) throw error
    const failure = failureOf(error)
    if (failure.kind === 'fatal') throw new FatalKafkaError(`Kafka refuses our output: ${failure.message}`, true)
    emit({ event: 'producer_replaced', topic, partition, cause: `${failure.name}: ${failure.message}` })
    failed?.(error)
  } finally {
    progress.chunkEnded()
  }
}

const deliverBatch = async (
  fetched: Fetched,
  transactions: PartitionTransactions,
  owned: Claim,
  limited: Limited,
  options: BatchOptions,
): Promise<void> => {
  const { settings, pipeline, waitOf, form, state, progress } = options
  const { chunkEvents, chunkBytes } = settings.limits
  const { refused } = transactions.refusals
  const prepared = pipeline.prepare?.(fetched.records)
  if (prepared) await prepared
  const counted = countEvents(fetched, pipeline)
  const wait = waitOf(counted)
  const max = { count: chunkEvents, bytes: chunkBytes }
  for (const records of splitBatch(counted.records, !owned.hasDelivered)) {
    const chunks = await startChunks(records, { pipeline, wait, form, max, refused, state, topicId: owned.topicId })
    const areReady = async (): Promise<boolean> =>
      (await Promise.all(chunks.map(async ({ ready }) => ready))).every((isReady) => isReady)
    // No time limit here: the duration depends on the provider alone.
    if (wait.kind === 'complete' && !(await areReady())) return
    const isDelivered = await limited(async () => {
      // Wait for all lookups before the first send: otherwise the transaction could time out while a lookup is open.
      if (!(await areReady())) return false
      const last = await transactions.inTurn(() =>
        commitChunks(fetched, chunks, transactions, owned, counted.lag, options),
      )
      if (last !== undefined) fetched.resolve(last)
      owned.hasDelivered = true
      return last !== undefined && fetched.goesOn()
    })
    progress.chunkEnded()
    if (!isDelivered) return
  }
}

/**
 * Commits chunks in one transaction. Resolves with the last offset in it, or with undefined if the batch was abandoned before the first
 * send.
 */
const commitChunks = async (
  fetched: Fetched,
  chunks: readonly Chunk[],
  transactions: PartitionTransactions,
  owned: Claim,
  lag: number,
  { form, progress, emit }: BatchOptions,
): Promise<string | undefined> => {
  // A follow-up of earlier events may have failed meanwhile and given up the claim.
  if (transactions.current() !== owned) return undefined
  const { refusals } = transactions
  const { topic, partition } = fetched
  const sent: Chunk[] = []
  let last: string | undefined
  let beside: Beside | undefined
  await transactions.commit(owned, {
    send: async (send) => {
      for (const chunk of chunks) {
        if (!fetched.goesOn()) break
        sent.push(chunk)
        for (const part of split(chunk.items.flat(), form.max)) await sendOrNote(part, refusals, send)
        await sendAttachmentsOrNote(attachmentsOf(chunk), chunk.last, refusals, send, form)
        last = chunk.last
        beside = chunk.listener?.beside?.(chunk.items)
      }
      return last === undefined ? 'nothing' : { offset: Number(last) + 1, beside }
    },
    settled: (hasCounted) => {
      for (const { listener } of sent)
        if (hasCounted) listener?.committed()
        else listener?.givenUp?.()
      if (!hasCounted || last === undefined) return
      forgetUpTo(last, refusals)
      const events = sent.reduce((sum, { count }) => sum + count, 0)
      progress.moved(events, Number(last) + 1, lag)
      const oldestMs = form.now() - Number(chunks[0]?.records[0]?.timestamp)
      emit({ event: 'chunk_delivered', topic, partition, events, oldestMs })
    },
  })
  return last
}

/**
 * A transaction without events. A former owner of the partition cannot commit it, because the claim of the next owner has fenced its
 * producer.
 */
const writeAlone = async (
  compose: Parameters<PartitionDelivery['write']>[0],
  transactions: PartitionTransactions,
  { form, fail, emit, opened }: DeliveryOptions & Pick<PartitionEvents, 'opened'>,
): Promise<Written> => {
  const state = { isWritten: false as boolean }
  let wake = (): void => undefined
  const attempt = async (): Promise<Written | 'again'> => {
    // The claim may have shown that the previous attempt was committed.
    if (state.isWritten) return 'written'
    if (transactions.isClosed()) return 'closed'
    const owned = transactions.current()
    if (!owned) return 'again'
    const records: readonly Outgoing[] = fitting(compose(), form)
    if (records.length === 0) return 'written'
    await transactions.commit(owned, {
      send: async (send) => {
        for (const part of splitByCountAndBytes(records, recordBytes, form.max)) await send(part)
        return { offset: 'stays' }
      },
      settled: (hasCounted) => {
        state.isWritten = hasCounted
        wake()
      },
    })
    return 'written'
  }
  for (;;)
    try {
      await opened()
      const written = await transactions.inTurn(attempt)
      if (written !== 'again') return written
    } catch (error) {
      const { kind, name, message } = failureOf(error)
      if (error instanceof FatalKafkaError) fail(message, error.needsOperator)
      if (state.isWritten) return 'written'
      if (transactions.isClosed() || error instanceof FatalKafkaError) return 'closed'
      emit({ event: 'kafka_client_warned', about: transactions.name, message: `${name}: ${message}` })
      if (kind === 'refused') return 'refused'
      // Another claim may prove the commit sooner than the delay ends, so stop waiting then.
      await Promise.race([sleep(againMs, undefined, { ref: false }), new Promise<void>((resolve) => (wake = resolve))])
    }
}
