// Turns of the event loop for lookups: whoever has much to do asks here now and then whether it is time to let them have one.

/** How long answers may lie at the socket, at most: a call of 25 ms then still spends most of its time at the provider. */
const everyMs = 4

export const createTurns = (isWanted: () => boolean, now: () => number = () => performance.now()) => {
  let last = now()
  let line = Promise.resolve()
  const next = (): Promise<void> =>
    new Promise((resolve) => {
      setImmediate(() => {
        last = now()
        resolve()
      })
    })
  return {
    /** One at a time: all who are given the same turn would keep the loop for as long as all of them together take. */
    turn: (): Promise<void> | undefined =>
      now() - last >= everyMs && isWanted() ? (line = line.then(next)) : undefined,
  }
}
