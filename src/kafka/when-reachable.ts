// A task at the start that needs a broker: tried again until one answers, for as long as it takes.
import type { Emit } from '../telemetry/event.js'
import { createBackoff } from './backoff.js'
import type { BrokerWatch } from './broker-watch.js'
import { failureOf } from './failure.js'

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
