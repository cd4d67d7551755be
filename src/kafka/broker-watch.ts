// Whether the brokers answer: every response to the consumer counts, and so does one to a request of our own every few seconds.
import { setTimeout as sleep } from 'node:timers/promises'
import { ignoreTelemetry, type Emit } from '../telemetry/event.js'
import { clusterOf, type Cluster } from './cluster.js'
import { failureOf } from './failure.js'
import { createClient } from './client.js'
import type { KafkaSettings } from './settings.js'
import { within } from './within.js'

export type BrokerWatch = {
  /** Call when a broker has answered anything. */
  readonly answered: () => void
  /** When one last answered, where that is too long ago. */
  readonly unreachableSince: () => number | undefined
  /** Milliseconds in which the brokers could be reached: a limit counted on it does not run out in an outage. */
  readonly reachableMs: () => number
  /** Waits so long, or until the brokers answer again after they did not, or until the signal. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>
  readonly close: () => void
}

type BrokerWatchOptions = {
  /** Asks any broker; resolves when it was answered. */
  readonly ask: () => Promise<unknown>
  readonly everyMs: number
  /** After so long without an answer the brokers count as unreachable. */
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

/** Late enough for a broker that is only slow, early enough for a readiness probe. */
const longestQuietMs = 10_000

/** Asks on a connection of its own, so that the request waits for nothing else. */
export const openBrokerWatch = (settings: KafkaSettings, emit: Emit, now: () => number): BrokerWatch => {
  const { sessionTimeoutMs, chunkDeadlineMs } = settings.limits
  // An outage must be detected before the limit of a chunk runs out.
  const quietMs = Math.min(longestQuietMs, sessionTimeoutMs, chunkDeadlineMs / 2)
  const answerMs = Math.max(1_000, quietMs / 2)
  // Every configured address is tried within one request.
  const retry = { initialRetryTime: 10, maxRetryTime: 10, retries: settings.brokers.length - 1 }
  let cluster: Cluster | undefined
  const leave = (): void => {
    cluster?.disconnect().catch(() => undefined) // it is not used again, however that ends
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

// How long to wait before the next attempt: twice as long each time, and short again once the brokers are back.

const firstMs = 500
const maxMs = 30_000

/** Call it for each failure; `isProgress`: something was delivered since the last one. */
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

// A task at the start that needs a broker: tried again until one answers, for as long as it takes.

/** Resolves with nothing if the signal came first. Throws what waiting does not cure: a refused login, a certificate that is not trusted. */
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
