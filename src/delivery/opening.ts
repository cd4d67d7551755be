// Opens a partition beside the batches: it is paused until it is claimed and its state is known, so that one which waits does not hold up the others of its broker.
import { setTimeout as sleep } from 'node:timers/promises'
import pLimit, { type LimitFunction } from 'p-limit'
import { failureOf, FatalKafkaError } from '../kafka/failure.js'
import type { Assigned } from '../kafka/fetched.js'
import { within } from '../kafka/within.js'
import type { Emit } from '../telemetry/event.js'
import type { Claimed } from './delivery.js'

type Opening = {
  /** Claims the partition in this membership; it is paused until then, and until it is ready. Call after each join, and when the claim is lost. */
  readonly begin: (assigned: Assigned, afterMs?: number) => void
  /** Resolves with what the last claim showed, as soon as there is one; with nothing once the task is closed. */
  readonly opened: () => Promise<Claimed | undefined>
}

/** `name` and `closed`: those of the task. Nothing is claimed before `after`, when the task before it has ended. */
export type Openings = (
  name: string,
  claim: () => Promise<Claimed>,
  closed: AbortSignal,
  /** Resolves when what was delivered before is known as far as delivery needs it. */
  ready: () => Promise<void> | undefined,
  after: Promise<unknown>,
) => Opening

type OpeningOptions = {
  /** Without an outage a partition that is not claimed within this time ends the process. */
  readonly limitMs: number
  /** Milliseconds that do not count an outage. */
  readonly reachableMs: () => number
  readonly emit: Emit
  /** Ends the process with the sentence. */
  readonly fail: (sentence: string, needsOperator?: boolean) => void
}

/** Before a claim that failed is tried again. */
const againMs = 1_000

/** Brokers that have just lost a worker have other work as well. */
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
  /** Counts the openings: a later one replaces those before. */
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
    /** Those that wait do not count. */
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
        // A broker that is needed may be away while others can be reached.
        if (kind !== 'unavailable') leftMs -= reachableMs() - began
        if (leftMs > 0) continue
        fail(`${what} failed for ${limitMs} ms: ${cause}: ${message}`)
        return
      }
  }

  return {
    begin: (assigned, afterMs = 0) => {
      // Another task may have the partition by now.
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
