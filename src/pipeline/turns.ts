// Turns of the event loop for lookups: whoever has much to do asks here now and then whether it is time to let them have one.

/** How long answers may lie at the socket, at most: a call of 25 ms then still spends most of its time at the provider. */
const everyMs = 4

/** A call that was answered frees its connection one turn of the event loop later, and the next one is written in the one after. */
const loops = 3

export const createTurns = (isWanted: () => boolean, now: () => number = () => performance.now()) => {
  let last = now()
  let line = Promise.resolve()
  const next = async (): Promise<void> => {
    for (let nth = 0; nth < loops; nth++) await new Promise((resolve) => setImmediate(resolve))
    last = now()
  }
  return {
    /** One at a time: all who are given the same turn would keep the loop for as long as all of them together take. */
    turn: (): Promise<void> | undefined =>
      now() - last >= everyMs && isWanted() ? (line = line.then(next)) : undefined,
  }
}
