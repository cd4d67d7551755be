// Assertions that only a bug can break: to continue could lose or duplicate events, so the process ends with a message.
import { FatalKafkaError } from '../kafka/failure.js'

export type Fail = (sentence: string) => void

/** Ends the process directly, because a caller might take the error for an outage and retry. */
export function mustHold(holds: boolean, sentence: () => string, fail: Fail): asserts holds {
  if (holds) return
  const told = `${sentence()}: this is a mistake in Threatweave, please report it`
  fail(told)
  throw new FatalKafkaError(told)
}
