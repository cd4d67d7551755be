// Rates over the last seconds and the last hour: one sample per second, one point every 30 seconds.

export type Sample = {
  readonly at: number
  /** Requests to our own server. */
  readonly requests: number
  readonly read: number
  readonly indicators: number
  readonly lookups: number
  readonly hits: number
  readonly calls: number
  readonly credits: number
  readonly annotated: number
  readonly delivered: number
  readonly lag: number
  /** Occurrences of each reason. */
  readonly reasons: Readonly<Record<string, number>>
}

type Counter = 'requests' | 'read' | 'indicators' | 'lookups' | 'hits' | 'calls' | 'credits' | 'annotated' | 'delivered'

export type Point = {
  readonly requestsPerSecond: number
  readonly eventsPerSecond: number
  readonly lag: number
  /** Between 0 and 1; absent when there was no lookup. */
  readonly hitRatio: number | undefined
  readonly callsPerMinute: number
  readonly creditsPerMinute: number
  /** The extreme of each current figure during this point. */
  readonly extremes: Extremes
}

/** The maximum of each figure; for the hit ratio the minimum. */
type Extremes = Omit<Point, 'extremes'>

export type History = {
  readonly tick: () => void
  /** Per second, over the last seconds. */
  readonly rate: (counter: Counter) => number
  readonly hitRatio: () => number | undefined
  /** Occurrences in the last minute. */
  readonly lastMinute: (reason: string) => number
  readonly points: () => readonly Point[]
}

const rateSamples = 5
const keptSamples = 60
const pointMs = 30_000
const maxPoints = 120

export const createHistory = (take: () => Sample): History => {
  const first = take()
  let samples: Sample[] = [first]
  let points: Point[] = []
  let since = first
  let extremes: Extremes | undefined
  const latest = (): Sample => samples.at(-1) ?? first
  const before = (): Sample => samples.at(-1 - rateSamples) ?? samples[0] ?? first
  return {
    tick: () => {
      const sample = take()
      samples = [...samples.slice(-keptSamples), sample]
      extremes = widen(extremes, figuresOf(before(), sample))
      if (sample.at - since.at < pointMs) return
      points = [...points.slice(1 - maxPoints), { ...figuresOf(since, sample), extremes }]
      since = sample
      extremes = undefined
    },
    rate: (counter) => perSecond(before(), latest(), counter),
    hitRatio: () => ratioOf(before(), latest()),
    lastMinute: (reason) => (latest().reasons[reason] ?? 0) - (samples[0]?.reasons[reason] ?? 0),
    points: () =>
      extremes && latest().at > since.at ? [...points, { ...figuresOf(since, latest()), extremes }] : points,
  }
}

const perSecond = (from: Sample, to: Sample, counter: Counter): number =>
  to.at > from.at ? ((to[counter] - from[counter]) * 1000) / (to.at - from.at) : 0

const ratioOf = (from: Sample, to: Sample): number | undefined =>
  to.lookups > from.lookups ? (to.hits - from.hits) / (to.lookups - from.lookups) : undefined

const figuresOf = (from: Sample, to: Sample): Extremes => ({
  requestsPerSecond: perSecond(from, to, 'requests'),
  eventsPerSecond: perSecond(from, to, 'annotated'),
  lag: to.lag,
  hitRatio: ratioOf(from, to),
  callsPerMinute: 60 * perSecond(from, to, 'calls'),
  creditsPerMinute: 60 * perSecond(from, to, 'credits'),
})

const widen = (one: Extremes | undefined, other: Extremes): Extremes =>
  one === undefined
    ? other
    : {
        requestsPerSecond: Math.max(one.requestsPerSecond, other.requestsPerSecond),
        eventsPerSecond: Math.max(one.eventsPerSecond, other.eventsPerSecond),
        lag: Math.max(one.lag, other.lag),
        hitRatio: minOf(one.hitRatio, other.hitRatio),
        callsPerMinute: Math.max(one.callsPerMinute, other.callsPerMinute),
        creditsPerMinute: Math.max(one.creditsPerMinute, other.creditsPerMinute),
      }

const minOf = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined ? other : other === undefined ? one : Math.min(one, other)
