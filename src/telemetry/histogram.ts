// A histogram as plain numbers, cheap enough for the hot path.

export type Histogram = {
  /** Upper bounds in seconds, ascending. */
  readonly bounds: readonly number[]
  /** Observations per bucket; one more than `bounds`, for values above the last. */
  readonly counts: readonly number[]
  readonly sum: number
  readonly count: number
}

type HistogramRecorder = {
  /** `times`: the number of events with this value. */
  readonly observe: (seconds: number, times?: number) => void
  readonly read: () => Histogram
}

export const createHistogram = (bounds: readonly number[]): HistogramRecorder => {
  const counts = new Array<number>(bounds.length + 1).fill(0)
  let sum = 0
  let count = 0
  return {
    observe: (seconds, times = 1) => {
      const value = seconds > 0 ? seconds : 0
      let place = 0
      while (place < bounds.length && value > (bounds[place] ?? Infinity)) place++
      counts[place] = (counts[place] ?? 0) + times
      sum += value * times
      count += times
    },
    read: () => ({ bounds, counts: [...counts], sum, count }),
  }
}

/** The quantile in seconds, estimated like in Prometheus; undefined without observations, Infinity above the last bound. */
export const quantileOf = ({ bounds, counts, count }: Histogram, share: number): number | undefined => {
  if (count === 0) return undefined
  const rank = share * count
  let below = 0
  for (const [place, bound] of bounds.entries()) {
    const here = counts[place] ?? 0
    if (below + here >= rank && here > 0) {
      const from = place === 0 ? 0 : (bounds[place - 1] ?? 0)
      return from + ((bound - from) * (rank - below)) / here
    }
    below += here
  }
  return Infinity
}
