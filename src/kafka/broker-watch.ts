// Watches whether the brokers answer: every response to the consumer counts, and so does a request of our own every few seconds.
import { setTimeout as sleep } from 'node:timers/promises'
import { ignoreTelemetry, type Emit } from '../telemetry/event.js'
import { clusterOf, type Cluster } from './cluster.js'
import { failureOf } from './failure.js'
import { createClient } from './client.js'
import type { KafkaSettings } from './settings.js'
import { within } from './within.js'

export type BrokerWatch = {
  /** Call after any answer of a broker. */
  readonly answered: () => void
  /** Time of the last answer, if it is too long ago. */
  readonly unreachableSince: () => number | undefined
  /** Milliseconds in which the brokers were reachable. A limit on this clock does not run out in an outage. */
  readonly reachableMs: () => number
  /** Resolves after the time, when the brokers answer again after an outage, or when the signal is aborted. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>
  readonly close: () => void
}

type BrokerWatchOptions = {
  /** Sends a request to any broker; resolves with its answer. */
  readonly ask: () => Promise<unknown>
  readonly everyMs: number
  /** Time without an answer after which the brokers count as unreachable. */
  readonly quietMs: number
  readonly now: () => number
  readonly emit: Emit
}

export const watchBrokers = ({ ask, everyMs, quietMs, now, emit }: BrokerWatchOptions): BrokerWatch => {
  const closed = new AbortController()
  const waiting = new Set<() => void>()
  const startedAt = now()
  let answeredAt = startedAt
  let lostMs = 0
  let isReported = false
  const quietFor = (): number => {
    const ms = now() - answeredAt
    return ms > quietMs ? ms : 0
  }
  const answered = (): void => {
    lostMs += quietFor()
    if (isReported) emit({ event: 'brokers_reachable', afterMs: now() - answeredAt })
    isReported = false
    answeredAt = now()
  }
  const watching = async (): Promise<void> => {
    let isFailing = false
    while (!closed.signal.aborted) {
      let cause = ''
      try {
        await ask()
        answered()
      } catch (error) {
        cause = failureOf(error).message
      }
      if (isFailing && cause === '') for (const wake of waiting) wake()
      isFailing = cause !== ''
      if (!isReported && isFailing && quietFor() > 0) {
        isReported = true
        emit({ event: 'brokers_unreachable', forMs: quietFor(), cause })
      }
      await sleep(everyMs, undefined, { ref: false, signal: closed.signal }).catch(() => undefined)
    }
  }
  void watching()
  return {
    answered,
    unreachableSince: () => (quietFor() > 0 ? answeredAt : undefined),
    reachableMs: () => now() - startedAt - lostMs - quietFor(),
    pause: (ms, signal) =>
      new Promise((resolve) => {
        const end = (): void => {
          clearTimeout(timer)
          waiting.delete(end)
          signal.removeEventListener('abort', end)
          resolve()
        }
        const timer = setTimeout(end, ms)
        waiting.add(end)
        signal.addEventListener('abort', end)
        if (signal.aborted) end()
      }),
    close: () => closed.abort(),
  }
}

/** Long enough for a slow broker, short enough for a readiness probe. */
const longestQuietMs = 10_000

/** Uses a separate connection, so that other requests cannot delay the check. */
export const openBrokerWatch = (settings: KafkaSettings, emit: Emit, now: () => number): BrokerWatch => {
  const { sessionTimeoutMs, chunkDeadlineMs } = settings.limits
  // An outage must be detected before the chunk deadline expires.
  const quietMs = Math.min(longestQuietMs, sessionTimeoutMs, chunkDeadlineMs / 2)
  const answerMs = Math.max(1_000, quietMs / 2)
  // One request tries every configured address.
  const retry = { initialRetryTime: 10, maxRetryTime: 10, retries: settings.brokers.length - 1 }
  let cluster: Cluster | undefined
  const leave = (): void => {
    cluster?.disconnect().catch(() => undefined) // not used again, so errors do not matter
    cluster = undefined
  }
  const ask = async (): Promise<void> => {
    try {
      await within(answerMs, 'a request to the brokers', async () => {
        cluster ??= clusterOf(createClient(settings, ignoreTelemetry, retry))
        const broker = await cluster.brokerPool.findConnectedBroker()
        await broker.apiVersions()
      })
    } catch (error) {
      leave()
      throw error
    }
  }
  const watch = watchBrokers({ ask, everyMs: Math.max(250, quietMs / 4), quietMs, now, emit })
  const close = (): void => {
    watch.close()
    leave()
  }
  return { ...watch, close }
}

// Backoff before the next attempt: doubled each time, and reset once the brokers are back.

const firstMs = 500
const maxMs = 30_000

/** Call it for each failure. `isProgress` means that a record was delivered since the last one. */
export const createBackoff = (brokers: Pick<BrokerWatch, 'unreachableSince'>): ((isProgress?: boolean) => number) => {
  let nextMs = firstMs
  let wereUnreachable = false
  return (isProgress = false) => {
    const areUnreachable = brokers.unreachableSince() !== undefined
    if (isProgress || (wereUnreachable && !areUnreachable)) nextMs = firstMs
    wereUnreachable = areUnreachable
    const ms = nextMs
    nextMs = Math.min(2 * ms, maxMs)
    return ms
  }
}

// Runs a startup task that needs a broker, with retries until one answers, without a time limit.

/**
 * Resolves with undefined if the signal was aborted first. Throws failures that waiting cannot cure: a refused login, an untrusted
 * certificate.
 */
export const whenReachable = async <Result>(
  task: () => Promise<Result>,
  { brokers, signal, emit }: { readonly brokers: BrokerWatch; readonly signal: AbortSignal; readonly emit: Emit },
): Promise<Result | undefined> => {
  const stopped = new Promise<undefined>((resolve) => {
    signal.addEventListener('abort', () => resolve(undefined), { once: true })
  })
  const backoff = createBackoff(brokers)
  while (!signal.aborted)
    try {
      return await Promise.race([task(), stopped])
    } catch (error) {
      const { kind, name, message } = failureOf(error)
      if (kind !== 'unavailable') throw error
      const againInMs = backoff()
      emit({ event: 'start_postponed', cause: `${name}: ${message}`, againInMs })
      await brokers.pause(againInMs, signal)
    }
  return undefined
}
