// Opens a partition independently of the batches.
// The partition stays paused until it is claimed and its state is restored, so it does not block others on the same broker.
import { setTimeout as sleep } from 'node:timers/promises'
import pLimit, { type LimitFunction } from 'p-limit'
import { failureOf, FatalKafkaError } from '../kafka/failure.js'
import type { Assigned } from '../kafka/fetched.js'
import { within } from '../kafka/within.js'
import type { Emit } from '../telemetry/event.js'
import type { Claimed } from './delivery.js'

type Opening = {
  /**
   * Claims the partition in this membership. The partition is paused until it is claimed and ready. Call after each join, and when the
   * claim is lost.
   */
  readonly begin: (assigned: Assigned, afterMs?: number) => void
  /** Resolves with the last claim as soon as there is one, or with undefined once the task is closed. */
  readonly opened: () => Promise<Claimed | undefined>
}

/** `name` and `closed` belong to the task. `after` resolves when the previous task of the partition has ended; the claim waits for it. */
export type Openings = (
  name: string,
  claim: () => Promise<Claimed>,
  closed: AbortSignal,
  /** Resolves once the state that delivery depends on is restored. */
  ready: () => Promise<void> | undefined,
  after: Promise<unknown>,
) => Opening

type OpeningOptions = {
  /** Outside an outage, a partition that is not claimed within this time ends the process. */
  readonly limitMs: number
  /** Milliseconds that exclude outages. */
  readonly reachableMs: () => number
  readonly emit: Emit
  /** Ends the process with this message. */
  readonly fail: (sentence: string, needsOperator?: boolean) => void
}

/** Delay before a failed claim is retried. */
const againMs = 1_000

/** Limit on concurrent claims: brokers that have just lost a member are busy with the others. */
const maxClaims = 4

export const createOpenings = (options: OpeningOptions): Openings => {
  const oneOfFew = pLimit(maxClaims)
  return (name, claim, closed, ready, after) => openPartition(name, claim, closed, ready, after, oneOfFew, options)
}

const openPartition = (
  name: string,
  claim: () => Promise<Claimed>,
  closed: AbortSignal,
  ready: () => Promise<void> | undefined,
  after: Promise<unknown>,
  oneOfFew: LimitFunction,
  { limitMs, reachableMs, emit, fail }: OpeningOptions,
): Opening => {
  /** Number of the latest opening, which replaces the earlier ones. */
  let last = 0
  let open: Claimed | undefined
  const waiting = new Set<() => void>()
  const tell = (): void => {
    for (const wake of waiting) wake()
    waiting.clear()
  }
  closed.addEventListener('abort', tell)

  const run = async (assigned: Assigned, nth: number, afterMs: number): Promise<void> => {
    const isWanted = (): boolean => nth === last && !closed.aborted && assigned.isMember()
    const what = `the opening of ${name}`
    let leftMs = limitMs
    await after
    if (afterMs > 0) await sleep(afterMs, undefined, { ref: false })
    let began = 0
    /** Claims that wait in the queue do not use up their limit. */
    const attempt = async (): Promise<void> => {
      if (!isWanted()) return
      began = reachableMs()
      const claimed = await within(leftMs, what, claim, reachableMs)
      if (!isWanted()) return
      open = claimed
      tell()
      const waits = ready()
      if (waits) void waits.then(() => isWanted() && assigned.resume())
      else assigned.resume()
    }
    while (isWanted())
      try {
        await oneOfFew(attempt)
        return
      } catch (error) {
        if (!isWanted()) return
        const { kind, name: cause, message } = failureOf(error)
        const isFatal = error instanceof FatalKafkaError
        if (isFatal || kind === 'fatal') {
          fail(isFatal ? message : `Kafka refuses our output: ${message}`, !isFatal || error.needsOperator)
          return
        }
        emit({ event: 'kafka_client_warned', about: name, message: `${cause}: ${message}` })
        await sleep(againMs, undefined, { ref: false })
        // The one broker that this claim needs may be down while others can be reached.
        if (kind !== 'unavailable') leftMs -= reachableMs() - began
        if (leftMs > 0) continue
        fail(`${what} failed for ${limitMs} ms: ${cause}: ${message}`)
        return
      }
  }

  return {
    begin: (assigned, afterMs = 0) => {
      // Another task may own the partition by now.
      if (closed.aborted) return
      open = undefined
      assigned.pause()
      void run(assigned, ++last, afterMs)
    },
    opened: async () => {
      while (!open && !closed.aborted) await new Promise<void>((resolve) => waiting.add(resolve))
      return closed.aborted ? undefined : open
    },
  }
}
