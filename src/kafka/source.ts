// The consumer, kept going: a new one after every crash, for as long as it takes where a broker cannot be reached.
import { createBackoff } from './backoff.js'
import { failureOf } from './failure.js'
import { consume, type ConsumeOptions, type Consuming } from './consume.js'

export type Source = { readonly stop: () => Promise<void> }

export type SourceOptions = Omit<ConsumeOptions, 'kafka'> & {
  /** Makes a client of its own. */
  readonly connect: () => ConsumeOptions['kafka']
}

/** Restarts for a cause that is no outage, with nothing delivered in between: then the next would end the same way. */
const maxRestarts = 3
/** Between those: long enough for a topic that is just being made again. */
const fruitlessPauseMs = 10_000

export const startSource = (options: SourceOptions): Source => {
  const { connect, health, brokers, emit, fail } = options
  const stopped = new AbortController()
  let current: Consuming | undefined
  const keepGoing = async (): Promise<void> => {
    let deliveredBefore = -1
    let fruitless = 0
    const backoff = createBackoff(brokers)
    while (!stopped.signal.aborted) {
      current = consume({ ...options, kafka: connect() })
      const error = await current.crashed
      health.left()
      if (isAborted(stopped.signal)) return
      const { kind, name, message } = failureOf(error)
      const cause = `${name}: ${message}`
      const isOutage = kind === 'unavailable' || kind === 'untrusted'
      if (!isOutage && (kind === 'hopeless' || !isRetriable(error))) {
        fail(`the consumer cannot go on: ${cause}`, kind === 'hopeless')
        return
      }
      const { delivered } = health.read()
      const isMoving = delivered !== deliveredBefore
      deliveredBefore = delivered
      fruitless = (isMoving ? 0 : fruitless) + (isOutage ? 0 : 1)
      health.restarted()
      const againInMs = fruitless > 1 ? fruitlessPauseMs : backoff(isMoving)
      emit({ event: 'consumer_restarted', cause, againInMs })
      if (fruitless > maxRestarts) {
        fail(`the consumer crashed ${fruitless} times without an offset moving: ${cause}`)
        return
      }
      await brokers.pause(againInMs, stopped.signal)
    }
  }
  keepGoing().catch((error: unknown) => fail(`the consumer cannot go on: ${failureOf(error).message}`))
  return {
    stop: async () => {
      stopped.abort()
      await current?.stop()
    },
  }
}

/** Asked again after a wait, which the type checker does not know of. */
const isAborted = (signal: AbortSignal): boolean => signal.aborted

/** As kafkajs decides it. */
const isRetriable = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false
  if (error.name === 'KafkaJSNumberOfRetriesExceeded') return true
  let root: Error & { readonly retriable?: boolean } = error
  while (root.cause instanceof Error) root = root.cause
  return root.retriable === true
}
