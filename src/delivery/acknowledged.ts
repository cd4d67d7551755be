// At least once: a chunk's output is acknowledged before its offsets move. Below it, a sender sends again only what was not acknowledged.
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

/** In a batch that takes longer; each is committed at its end. */
const commitEveryMs = 1_000
/** Before a membership that could not be proved is asked for again. */
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
        // However it is killed, no event that waits is in the output without a note, and none that is accused without its alert:
        // when it is delivered again, the provider may have no answer.
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
      /** Of the chunk that was delivered last. */
      let count = 0
      /** Whether something was delivered since the last join. */
      let hasBegun = false
      /** One write after the other: otherwise counts that call an indicator alerted could be kept before its alert is written. */
      const writes = { turn: Promise.resolve<unknown>(undefined) }
      let isClosed = false
      /**
       * Waits for the proof that the partition is still assigned here and was nobody else's in between: a process that slept past its session
       * would replace the records of the next owner. False if it is lost.
       */
      const isMember = async (): Promise<boolean> => {
        while (!isClosed)
          try {
            await opened()
            await assigned.proveMembership()
            return !isClosed
          } catch {
            // The next join tells whether it stays here.
            await sleep(againMs, undefined, { ref: false })
          }
        return false
      }
      return {
        deliver: async (fetched, state) => {
          if (isClosed) return
          const at = position.current()
          // The batch is left, and fetched again once the position is set.
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
                // Only the provider determines how long that takes, so it has no limit.
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
              // However it is killed, no note says of something that it was written before it is.
              for (const together of [records.filter((record) => !isNote(record)), records.filter(isNote)])
                for (const part of splitByCountAndBytes(together, recordBytes, form.max))
                  if ((await sender.send(part, () => !isClosed)) !== 'acknowledged') return 'refused'
              return 'written'
            } catch (error) {
              // A sender tries until it is closed or the partition is lost, unless the brokers will never let it.
              if (error instanceof FatalKafkaError) fail(error.message, error.needsOperator)
              else if (!isEnding && !isClosed) throw error
              return 'closed'
            } finally {
              idle.push(sender)
            }
          }),
        // Nobody can be kept from writing, so a repeat is possible: it has the same id.
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
