// What only a mistake in this program can break: to go on could lose or double events, so the process ends with a sentence.
import { FatalKafkaError } from '../kafka/failure.js'

export type Fail = (sentence: string) => void

/** Ends the process itself: whoever called may take what is thrown for an outage, and try again. */
export function mustHold(holds: boolean, sentence: () => string, fail: Fail): asserts holds {
  if (holds) return
  const told = `${sentence()}: this is a mistake in Threatweave, please report it`
  fail(told)
  throw new FatalKafkaError(told)
}
