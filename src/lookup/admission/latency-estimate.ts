// The latency of lookups as observed, and from it when the answer to one that is in flight, or queued, can be expected.

type LatencyEstimate = {
  readonly began: (key: string, now: number) => void
  readonly ended: (key: string) => void
  /** A lookup took so long, without the pauses in it. */
  readonly took: (ms: number) => void
  /** What a lookup takes from its start to its finding. */
  readonly latencyMs: () => number
  /** Milliseconds until the finding; `ahead` are queued before it. Undefined where it is neither in flight nor queued. */
  readonly leftMs: (key: string, now: number, ahead: number | undefined) => number | undefined
  /** The same for one that is queued now, behind so many. */
  readonly nextMs: (now: number, ahead: number) => number
}

/** Assumed until one was observed. */
const assumedLatencyMs = 100

/** `inFlight()` of them go at the same time. */
export const createLatencyEstimate = (inFlight: () => number): LatencyEstimate => {
  /** key → when its lookup began, of those in flight. */
  const begun = new Map<string, number>()
  let latencyMs = assumedLatencyMs

  /** What is overdue takes, for all that is known, as long again as it already took. */
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
