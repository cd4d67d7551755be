// A limit on work that waits for a broker, such as the whole of a chunk's way: heartbeats cannot hide one that hangs.
import { Hopeless } from './failure.js'

/** How often a clock that may stand still is looked at. */
const lookMs = 250

/** `clock` says what counts: one that stands still while no broker can be reached makes the limit wait for them. */
export const within = async <Result>(
  limitMs: number,
  what: string,
  work: () => Promise<Result>,
  clock: () => number = Date.now,
): Promise<Result> => {
  const began = clock()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    const look = (): void => {
      const leftMs = limitMs - (clock() - began)
      if (leftMs > 1) timer = setTimeout(look, Math.max(leftMs, lookMs))
      else reject(new Hopeless(`${what} did not get through within ${limitMs} ms`))
    }
    timer = setTimeout(look, limitMs)
  })
  try {
    return await Promise.race([work(), late])
  } finally {
    clearTimeout(timer)
  }
}
