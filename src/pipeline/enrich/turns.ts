// Yields the event loop to lookups and heartbeats while the stream is busy.

/** The maximum wait of answers at the socket: short compared with a call of 25 ms. */
const everyMs = 4

/** The maximum wait of heartbeats without lookups: short compared with the shortest session. */
const atMostMs = 100

/** A finished call frees its connection one turn later, and the next call is sent in the turn after that. */
const loops = 3

export const createTurns = (isWanted: () => boolean, now: () => number = () => performance.now()) => {
  let last = now()
  let queue = Promise.resolve()
  const next = async (): Promise<void> => {
    for (let nth = 0; nth < loops; nth++) await new Promise((resolve) => setImmediate(resolve))
    last = now()
  }
  return {
    /** One caller at a time, because callers that resume together would block the loop together. */
    turn: (): Promise<void> | undefined => {
      const sinceMs = now() - last
      return sinceMs >= everyMs && (sinceMs >= atMostMs || isWanted()) ? (queue = queue.then(next)) : undefined
    },
  }
}
