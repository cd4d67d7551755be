// Measures the latency of lookups and estimates when those in flight or in the queue will be answered.

type LatencyEstimate = {
  readonly began: (key: string, now: number) => void
  readonly ended: (key: string) => void
  /** Records the duration of a lookup, without its pauses. */
  readonly took: (ms: number) => void
  /** The average duration of a lookup. */
  readonly latencyMs: () => number
  /** Milliseconds until the finding, with `ahead` queued before it; undefined if it is neither in flight nor queued. */
  readonly leftMs: (key: string, now: number, ahead: number | undefined) => number | undefined
  /** The same for a lookup queued now behind `ahead` others. */
  readonly nextMs: (now: number, ahead: number) => number
}

/** Assumed until the first measurement. */
const assumedLatencyMs = 100

/** `inFlight()` lookups run concurrently. */
export const createLatencyEstimate = (inFlight: () => number): LatencyEstimate => {
  /** key → the start of its lookup, for those in flight. */
  const begun = new Map<string, number>()
  let latencyMs = assumedLatencyMs

  /** An overdue lookup is expected to take as long again as it already has. */
  const restMs = (elapsedMs: number): number => (elapsedMs <= latencyMs ? latencyMs - elapsedMs : elapsedMs)

  const queuedMs = (now: number, ahead: number): number => {
    const [oldest] = begun.values()
    const firstMs = oldest === undefined ? 0 : restMs(now - oldest)
    return firstMs + (Math.floor(ahead / inFlight()) + 1) * latencyMs
  }

  return {
    began: (key, now) => void begun.set(key, now),
    ended: (key) => void begun.delete(key),
    took: (ms) => void (latencyMs += (ms - latencyMs) / 5),
    latencyMs: () => latencyMs,
    leftMs: (key, now, ahead) => {
      const begunAt = begun.get(key)
      if (begunAt !== undefined) return restMs(now - begunAt)
      return ahead === undefined ? undefined : queuedMs(now, ahead)
    },
    nextMs: (now, ahead) => (ahead === 0 && begun.size < inFlight() ? latencyMs : queuedMs(now, ahead)),
  }
}
