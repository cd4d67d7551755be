// The pace of lookups as observed: when the answer to one that is under way, or waits for its turn, can be expected.

export type Pace = {
  readonly began: (key: string, now: number) => void
  readonly ended: (key: string) => void
  /** A lookup was through after so long, without the pauses in it. */
  readonly took: (ms: number) => void
  /** What a lookup takes from its start to its finding. */
  readonly latencyMs: () => number
  /** Milliseconds until the finding; `ahead` wait before it. Undefined where it is neither under way nor waiting. */
  readonly leftMs: (key: string, now: number, ahead: number | undefined) => number | undefined
}

/** What a lookup is thought to take before one was observed. */
const assumedLatencyMs = 100

/** `inFlight` of them go at the same time. */
export const createPace = (inFlight: number): Pace => {
  /** key → when its lookup began, of those under way. */
  const begun = new Map<string, number>()
  let latencyMs = assumedLatencyMs

  /** What is overdue takes, for all that is known, as long again as it already took. */
  const restMs = (elapsedMs: number): number => (elapsedMs <= latencyMs ? latencyMs - elapsedMs : elapsedMs)

  return {
    began: (key, now) => void begun.set(key, now),
    ended: (key) => void begun.delete(key),
    took: (ms) => void (latencyMs += (ms - latencyMs) / 5),
    latencyMs: () => latencyMs,
    leftMs: (key, now, ahead) => {
      const begunAt = begun.get(key)
      if (begunAt !== undefined) return restMs(now - begunAt)
      if (ahead === undefined) return undefined
      const [oldest] = begun.values()
      const firstMs = oldest === undefined ? 0 : restMs(now - oldest)
      return firstMs + (Math.floor(ahead / inFlight) + 1) * latencyMs
    },
  }
}
