// At-least-once delivery: Kafka acknowledges the output of a chunk before its offsets move.
// The sender retries only the records that were not acknowledged.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { sendAttachments, fitting } from './attachments.js'
import { attachmentsOf, countEvents, startChunks, splitBatch, type Chunk } from './chunks.js'
import { inTurn } from './in-turn.js'
import { metadataOf, type Beside } from '../kafka/commit-metadata.js'
import { deliver, splitByCountAndBytes } from './deliver.js'
import { FatalKafkaError } from '../kafka/failure.js'
import { openIdempotentSender, type IdempotentSender } from '../kafka/producers.js'
import type { Fetched } from '../kafka/fetched.js'
import type { PartitionProgress } from '../kafka/health.js'
import { openPosition } from './task-position.js'
import type { Delivery, DeliveryOptions } from './delivery.js'
import type { Outgoing } from '../kafka/records.js'
import { recordBytes } from '../kafka/wire/encode-batch.js'
import { within } from '../kafka/within.js'

/** Interval between commits within a batch that takes long; every batch also commits at its end. */
const commitEveryMs = 1_000
/** Delay before the next attempt to prove membership. */
const againMs = 200

export const atLeastOnce = (options: DeliveryOptions): Delivery => {
  const { connect, settings, pipeline, waitOf, form, brokers, emit, fail } = options
  const { limits } = settings
  const kafka = connect()
  const owner = randomUUID()
  const idle: IdempotentSender[] = []
  let isEnding = false
  const all: IdempotentSender[] = []
  const isNote = ({ topic }: Outgoing): boolean => topic === settings.sightingsTopic
  const take = (): IdempotentSender => {
    const free = idle.pop()
    if (free) return free
    const replaced: Parameters<typeof openIdempotentSender>[2] = ([first], cause) =>
      emit({ event: 'producer_replaced', topic: first?.topic ?? '', partition: first?.partition ?? 0, cause })
    const sender = openIdempotentSender(kafka, settings.output.compression, replaced, brokers.reachableMs, form)
    all.push(sender)
    return sender
  }
  const deliverChunk = async (
    fetched: Fetched,
    lag: number,
    chunk: Chunk,
    sender: IdempotentSender,
    metadataWith: (beside: Beside | undefined) => string,
    progress: PartitionProgress,
  ): Promise<boolean> => {
    const { topic, partition, name } = fetched
    progress.chunkBegan(sender.clock)
    const isDelivered = await within(
      limits.chunkDeadlineMs,
      `${name}, offsets ${chunk.first} to ${chunk.last}`,
      async () => {
        if (!(await chunk.ready)) return false
        // Alerts and notes go first. If the process is killed in between, the output then has no pending event without its note and no
        // malicious event without its alert: on redelivery the provider may have no answer.
        await sendAttachments(attachmentsOf(chunk), sender.send, form)
        await deliver(chunk.items.flat(), sender.send, form, chunk.again)
        return true
      },
      sender.clock,
    )
    progress.chunkEnded()
    if (!isDelivered) return false
    fetched.resolve(chunk.last, metadataWith(chunk.listener?.beside?.(chunk.items)))
    chunk.listener?.committed()
    progress.moved(chunk.count, Number(chunk.last) + 1, lag)
    const oldestMs = form.now() - Number(chunk.records[0]?.timestamp)
    emit({ event: 'chunk_delivered', topic, partition, events: chunk.count, oldestMs })
    return true
  }
  return {
    open: (first, { progress, takenOver, readIn, opened }) => {
      let assigned = first
      const position = openPosition({ startingOffsets: options.startingOffsets, owner, takenOver, readIn })
      /** Commit number, written into the commit metadata. */
      let count = 0
      /** Whether a chunk was delivered since the last join. */
      let hasBegun = false
      /** Serializes writes: otherwise the counts could mark an indicator as alerted before its alert is written. */
      const writes = { turn: Promise.resolve<unknown>(undefined) }
      let isClosed = false
      /**
       * Waits for proof that the partition is still assigned here and had no other owner in between. A process that slept past its
       * session would overwrite the records of the next owner. Resolves with false when the partition is lost.
       */
      const isMember = async (): Promise<boolean> => {
        while (!isClosed)
          try {
            await opened()
            await assigned.proveMembership()
            return !isClosed
          } catch {
            // The next join decides whether the partition stays here.
            await sleep(againMs, undefined, { ref: false })
          }
        return false
      }
      return {
        deliver: async (fetched, state) => {
          if (isClosed) return
          const at = position.current()
          // Leave the batch: Kafka delivers it again once the position is set.
          if (at?.generation !== fetched.generation) return
          const { topicId } = at
          const prepared = pipeline.prepare?.(fetched.records)
          if (prepared) await prepared
          if (!fetched.goesOn()) return
          const sender = take()
          const counted = countEvents(fetched, pipeline)
          const wait = waitOf(counted)
          const metadataWith = (beside: Beside | undefined): string =>
            metadataOf(topicId, { owner, n: ++count }, beside)
          const max = { count: limits.chunkEvents, bytes: limits.chunkBytes }
          let committedAt = form.now()
          try {
            for (const records of splitBatch(counted.records, !hasBegun))
              for (const chunk of await startChunks(records, { pipeline, wait, form, max, state, topicId })) {
                if (!fetched.goesOn()) return
                // No time limit here: the duration depends on the provider alone.
                if (wait.kind === 'complete' && !(await chunk.ready)) return
                if (!(await deliverChunk(fetched, counted.lag, chunk, sender, metadataWith, progress))) return
                hasBegun = true
                if (form.now() - committedAt < commitEveryMs) continue
                await fetched.commit()
                committedAt = form.now()
              }
          } finally {
            idle.push(sender)
          }
        },
        write: (compose) =>
          inTurn(writes, async () => {
            if (!(await isMember())) return 'closed'
            const sender = take()
            try {
              const records = fitting(compose(), form)
              // Notes go last: if the process is killed in between, no note claims that an unwritten record was written.
              for (const together of [records.filter((record) => !isNote(record)), records.filter(isNote)])
                for (const part of splitByCountAndBytes(together, recordBytes, form.max))
                  if ((await sender.send(part, () => !isClosed)) !== 'acknowledged') return 'refused'
              return 'written'
            } catch (error) {
              // A sender retries until it is closed or the partition is lost. Only a permanent refusal by the brokers ends it earlier.
              if (error instanceof FatalKafkaError) fail(error.message, error.needsOperator)
              else if (!isEnding && !isClosed) throw error
              return 'closed'
            } finally {
              idle.push(sender)
            }
          }),
        // At-least-once has no fencing, so a former owner may still write duplicates. They carry the same id.
        claim: async () => {
          const { topicId, isFormer, commit } = await position.set(assigned)
          return { offset: Infinity, topicId, isFormer, commit }
        },
        kept: (again) => {
          assigned = again
          hasBegun = false
        },
        close: () => {
          isClosed = true
          return Promise.resolve()
        },
      }
    },
    close: async () => {
      isEnding = true
      await Promise.all(all.map((sender) => sender.close()))
    },
  }
}
