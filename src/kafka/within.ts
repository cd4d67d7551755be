// A limit on the whole of a chunk's way, so that heartbeats cannot hide one that hangs.
import { Hopeless } from './failure.js'

export const within = async (limitMs: number, what: string, work: () => Promise<void>): Promise<void> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new Hopeless(`${what} did not get through within ${limitMs} ms`))
    }, limitMs)
  })
  try {
    await Promise.race([work(), late])
  } finally {
    clearTimeout(timer)
  }
}
