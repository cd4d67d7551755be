// Yields the event loop to lookups and heartbeats while the stream is busy.

/** How long answers may wait at the socket: short against a call of 25 ms. */
const everyMs = 4

/** How long heartbeats may wait where nothing is looked up: short against the shortest session. */
const atMostMs = 100

/** An answered call frees its connection one loop turn later, and the next call is sent in the turn after. */
const loops = 3

export const createTurns = (isWanted: () => boolean, now: () => number = () => performance.now()) => {
  let last = now()
  let queue = Promise.resolve()
  const next = async (): Promise<void> => {
    for (let nth = 0; nth < loops; nth++) await new Promise((resolve) => setImmediate(resolve))
    last = now()
  }
  return {
    /** One caller at a time, since callers that resume together would block the loop together. */
    turn: (): Promise<void> | undefined => {
      const sinceMs = now() - last
      return sinceMs >= everyMs && (sinceMs >= atMostMs || isWanted()) ? (queue = queue.then(next)) : undefined
    },
  }
}
