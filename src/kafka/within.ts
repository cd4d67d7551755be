// A limit on work that waits for a broker, such as the whole of a chunk's way: heartbeats cannot hide one that hangs.
import { Hopeless } from './failure.js'

export const within = async <Result>(limitMs: number, what: string, work: () => Promise<Result>): Promise<Result> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new Hopeless(`${what} did not get through within ${limitMs} ms`))
    }, limitMs)
  })
  try {
    return await Promise.race([work(), late])
  } finally {
    clearTimeout(timer)
  }
}
