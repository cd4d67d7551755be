// A time limit for what waits for a broker, such as the delivery of a chunk: heartbeats would hide that it hangs.
import { FatalKafkaError } from './failure.js'

/** How often a clock that may stand still is read. */
const checkMs = 250

/** `clock` defines what counts: one that stands still while no broker can be reached suspends the limit. */
export const within = async <Result>(
  limitMs: number,
  what: string,
  task: () => Promise<Result>,
  clock: () => number = Date.now,
): Promise<Result> => {
  const began = clock()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    const check = (): void => {
      const leftMs = limitMs - (clock() - began)
      if (leftMs > 1) timer = setTimeout(check, Math.max(leftMs, checkMs))
      else reject(new FatalKafkaError(`${what} was not finished within ${limitMs} ms`))
    }
    timer = setTimeout(check, limitMs)
  })
  try {
    return await Promise.race([task(), late])
  } finally {
    clearTimeout(timer)
  }
}

/** For what is tried again when it takes too long: the process does not end because of it. */
export const answeredWithin = async <Result>(
  limitMs: number,
  what: string,
  task: () => Promise<Result>,
): Promise<Result> => {
  try {
    return await within(limitMs, what, task)
  } catch (error) {
    throw error instanceof FatalKafkaError ? new Error(error.message) : error
  }
}
