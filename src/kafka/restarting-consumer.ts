// Restarts the consumer after every crash: without limit in an outage, otherwise only while offsets move.
import { createBackoff } from './broker-watch.js'
import { failureOf } from './failure.js'
import { consume, type ConsumeOptions, type Consuming } from './consume.js'

export type RestartingConsumer = { readonly stop: () => Promise<void> }

type RestartingConsumerOptions = Omit<ConsumeOptions, 'kafka'> & {
  /** Creates a separate client. */
  readonly connect: () => ConsumeOptions['kafka']
}

/** Limit on restarts outside an outage without any delivery in between: the next one would end the same way. */
const maxRestarts = 3
/** Pause between such restarts, long enough for a topic that is being created again. */
const noProgressPauseMs = 10_000

export const startRestartingConsumer = (options: RestartingConsumerOptions): RestartingConsumer => {
  const { connect, health, brokers, emit, fail } = options
  const stopped = new AbortController()
  let current: Consuming | undefined
  const consumeAgain = async (): Promise<void> => {
    let deliveredBefore = -1
    let withoutProgress = 0
    const backoff = createBackoff(brokers)
    while (!stopped.signal.aborted) {
      current = consume({ ...options, kafka: connect() })
      const error = await current.crashed
      health.left()
      if (isAborted(stopped.signal)) return
      const { kind, name, message } = failureOf(error)
      const cause = `${name}: ${message}`
      const isOutage = kind === 'unavailable' || kind === 'untrusted'
      if (!isOutage && (kind === 'fatal' || !isRetriable(error))) {
        fail(`the consumer cannot go on: ${cause}`, kind === 'fatal')
        return
      }
      const { delivered } = health.read()
      const isMoving = delivered !== deliveredBefore
      deliveredBefore = delivered
      withoutProgress = (isMoving ? 0 : withoutProgress) + (isOutage ? 0 : 1)
      health.restarted()
      const againInMs = withoutProgress > 1 ? noProgressPauseMs : backoff(isMoving)
      emit({ event: 'consumer_restarted', cause, againInMs })
      if (withoutProgress > maxRestarts) {
        fail(`the consumer crashed ${withoutProgress} times without an offset moving: ${cause}`)
        return
      }
      await brokers.pause(againInMs, stopped.signal)
    }
  }
  consumeAgain().catch((error: unknown) => fail(`the consumer cannot go on: ${failureOf(error).message}`))
  return {
    stop: async () => {
      stopped.abort()
      await current?.stop()
    },
  }
}

/** A function, because the type checker does not expect the property to change during an await. */
const isAborted = (signal: AbortSignal): boolean => signal.aborted

/** Same rule as kafkajs. */
const isRetriable = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false
  if (error.name === 'KafkaJSNumberOfRetriesExceeded') return true
  let root: Error & { readonly retriable?: boolean } = error
  while (root.cause instanceof Error) root = root.cause
  return root.retriable === true
}
