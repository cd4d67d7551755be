// A time limit for work that waits for a broker, such as the delivery of a chunk: heartbeats would hide that it hangs.
import { FatalKafkaError } from './failure.js'

/** How often a clock that may stop is read. */
const checkMs = 250

/** `clock` measures the time: a clock that stops in an outage suspends the limit. */
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

/** For requests that are retried after a timeout: the error does not end the process. */
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
